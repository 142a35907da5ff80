package layout

import (
	"neardup/pipeline/rows"
)

func ClusterKey(rep, member rows.TextID) []byte { return key(TableCluster, rep[:], member[:]) }

// ClusterOf returns the prefix of the members of a cluster.
func ClusterOf(representative rows.TextID) []byte { return key(TableCluster, representative[:]) }

// ClusterValue returns a value of TableCluster.
func ClusterValue(c rows.Cluster) []byte { return AppendScore(c.Against[:], c.Score) }

// Cluster parses a row of TableCluster.
func (r Row) Cluster() (c rows.Cluster, err error) {
	k := r.Key()
	v, err := r.Value()
	if err != nil {
		return c, err
	}
	if len(k) != 1+32 || len(v) != 16+ScoreSize {
		return c, Corrupt(k)
	}
	c.Cluster, c.Member, c.Against = rows.TextID(k[1:17]), rows.TextID(k[17:]), rows.TextID(v[:16])
	c.Score, err = ParseScore(v[16:])
	return c, err
}

func AssignedKey(t rows.TextID) []byte { return key(TableAssigned, t[:]) }

// Representative parses a row of TableAssigned: a text and the representative of
// its cluster.
func (r Row) Representative() (text, representative rows.TextID, err error) {
	v, err := r.Value()
	if err != nil {
		return text, representative, err
	}
	if text, err = r.TextID(); err == nil && len(v) != 16 {
		err = Corrupt(r.Key())
	}
	if err != nil {
		return text, representative, err
	}
	return text, rows.TextID(v), nil
}

func FormerKey(t rows.TextID) []byte { return key(TableFormer, t[:]) }

// ContainedKey returns the key of a contained text with its group and host.
func ContainedKey(group, host, t rows.TextID) []byte {
	return key(TableContained, group[:], host[:], t[:])
}

// ContainedOf returns the prefix of the texts that a group contains.
func ContainedOf(group rows.TextID) []byte { return key(TableContained, group[:]) }

// ContainedValue returns a value of TableContained.
func ContainedValue(c rows.Contained) []byte { return AppendScore(c.Cluster[:], c.Score) }

// Contained parses a row of TableContained.
func (r Row) Contained() (c rows.Contained, err error) {
	k := r.Key()
	v, err := r.Value()
	if err != nil {
		return c, err
	}
	if len(k) != 1+3*16 || len(v) != 16+ScoreSize {
		return c, Corrupt(k)
	}
	c.Group, c.Host, c.Text, c.Cluster = rows.TextID(k[1:]), rows.TextID(k[17:]), rows.TextID(k[33:]), rows.TextID(v)
	c.Score, err = ParseScore(v[16:])
	return c, err
}

func HostKey(t rows.TextID) []byte { return key(TableHost, t[:]) }

// HostValue returns a value of TableHost.
func HostValue(c rows.Contained) []byte {
	return AppendScore(append(c.Group[:], c.Host[:]...), c.Score)
}

// HostOf parses a row of TableHost. The row does not have the cluster of the text.
func (r Row) HostOf() (c rows.Contained, err error) {
	k := r.Key()
	v, err := r.Value()
	if err != nil {
		return c, err
	}
	if len(k) != 1+16 || len(v) != 2*16+ScoreSize {
		return c, Corrupt(k)
	}
	c.Text, c.Group, c.Host = rows.TextID(k[1:]), rows.TextID(v), rows.TextID(v[16:])
	c.Score, err = ParseScore(v[32:])
	return c, err
}

// KeptOf returns the prefix of the clusters of a kept outcome.
func KeptOf(outcome []byte) []byte { return key(TableKept, outcome) }

// Kept parses a row of TableKept. The outcome is valid until the next row.
func (r Row) Kept() (outcome []byte, text, representative rows.TextID, err error) {
	k := r.Key()
	v, err := r.Value()
	if err != nil {
		return nil, text, representative, err
	}
	if len(k) != 1+16+16 || len(v) != 16 {
		return nil, text, representative, Corrupt(k)
	}
	return k[1 : 1+16], rows.TextID(k[1+16:]), rows.TextID(v), nil
}
