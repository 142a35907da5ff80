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

// ScoreValue returns the value of the same row.
func ScoreValue(score float32) []byte {
	return binary.BigEndian.AppendUint32(nil, math.Float32bits(score))
}

// PageScore parses a row of a list of scores.
func (r Row) PageScore() (uri [16]byte, score float32, err error) {
	v, err := r.Value()
	if err != nil {
		return uri, 0, err
	}
	if len(r.Key()) != 5+len(uri) || len(v) != 4 {
		return uri, 0, Corrupt(r.Key())
	}
	score = math.Float32frombits(binary.BigEndian.Uint32(v))
	if !(score >= 0) {
		return uri, 0, Corrupt(r.Key())
	}
	return [16]byte(r.Key()[5:]), score, nil
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
