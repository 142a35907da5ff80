package configs

import (
	"encoding/json"
	"reflect"
)

// UnmarshalJSON reads a config. One that is older than a setting gets the setting of the
// preset that it is most like, so that a workspace of the preset paper stays one.
func (c *Config) UnmarshalJSON(b []byte) error {
	var given any
	if err := json.Unmarshal(b, &given); err != nil {
		return err
	}
	base, err := mostLike(given)
	if err != nil {
		return err
	}
	type plain Config
	p := plain(base)
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*c = Config(p)
	return nil
}

// mostLike returns the preset of which a decoded config has the most settings. Of several
// it is default, or the first by name.
func mostLike(given any) (best Config, err error) {
	least := -1
	for _, name := range append([]string{"default"}, Names()...) {
		preset, err := Load(name, nil)
		if err != nil {
			return best, err
		}
		b, err := json.Marshal(preset)
		if err != nil {
			return best, err
		}
		var all any
		if err := json.Unmarshal(b, &all); err != nil {
			return best, err
		}
		n, lacks := compare(given, all)
		if least < 0 || n < least {
			best, least = preset, n
		}
		if n == 0 || !lacks { // of a complete config all is read over the preset
			break
		}
	}
	return best, nil
}

// compare returns how many settings of a preset a decoded config has otherwise, and whether
// it lacks any.
func compare(given, preset any) (others int, lacks bool) {
	all, ok := preset.(map[string]any)
	has, also := given.(map[string]any)
	if !ok || !also {
		if !reflect.DeepEqual(given, preset) {
			others = 1
		}
		return others, false
	}
	for name, value := range all {
		if own, ok := has[name]; ok {
			n, some := compare(own, value)
			others, lacks = others+n, lacks || some
		} else {
			lacks = true
		}
	}
	return others, lacks
}
