package configs

// Threshold is the setting that trades the precision of the config's method for
// its recall, and the values that a curve over it is made of, in their order.
func (c Config) Threshold() (key string, values []string) {
	return "verify.resemblance", []string{"0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4", "0.45", "0.5",
		"0.55", "0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9", "0.95"}
}
