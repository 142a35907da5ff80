package layout

import (
	"encoding/binary"
	"math"
)

// PreferenceKey returns the key of a list of scores or hosts, by its number.
func PreferenceKey(number uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{TablePreference}, number)
}

// PreferenceNumber returns the number of a list from the key of its row.
func (r Row) PreferenceNumber() (uint32, error) {
	if len(r.Key()) != 5 {
		return 0, Corrupt(r.Key())
	}
	return binary.BigEndian.Uint32(r.Key()[1:]), nil
}

// PreferredOf returns the prefix of the rows of a list.
func PreferredOf(number uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{TablePreferred}, number)
}

// ScoreKey returns the key of a page's score in a list, by a digest of the URI.
func ScoreKey(number uint32, uri [16]byte) []byte { return append(PreferredOf(number), uri[:]...) }

// FileScoreKey returns the key of a page's score in the file of cluster.quality.
func FileScoreKey(uri [16]byte) []byte { return append([]byte{TableFileScore}, uri[:]...) }

// ScoreValue returns the value of the same rows.
func ScoreValue(score float32) []byte {
	return binary.BigEndian.AppendUint32(nil, math.Float32bits(score))
}

// ParsePageScore parses a row of a page's score: its key, whose last bytes are the digest of
// the URI, and its value.
func ParsePageScore(key, value []byte) (uri [16]byte, score float32, err error) {
	if len(key) != 1+len(uri) && len(key) != 5+len(uri) || len(value) != 4 {
		return uri, 0, Corrupt(key)
	}
	score = math.Float32frombits(binary.BigEndian.Uint32(value))
	if !(score >= 0) {
		return uri, 0, Corrupt(key)
	}
	return [16]byte(key[len(key)-len(uri):]), score, nil
}

// PageScore parses a row of a page's score.
func (r Row) PageScore() (uri [16]byte, score float32, err error) {
	v, err := r.Value()
	if err != nil {
		return uri, 0, err
	}
	return ParsePageScore(r.Key(), v)
}

// PreferredHostKey returns the key of a host in a list, by its place from 0.
func PreferredHostKey(number uint32, place int) []byte {
	return binary.BigEndian.AppendUint32(PreferredOf(number), uint32(place))
}

// PreferredHost parses a row of a list of hosts.
func (r Row) PreferredHost() (string, error) {
	v, err := r.Value()
	if err != nil {
		return "", err
	}
	if len(r.Key()) != 9 || len(v) == 0 {
		return "", Corrupt(r.Key())
	}
	return string(v), nil
}
