package blocks

import (
	"encoding/binary"
	"hash/fnv"
	"math/bits"

	"neardup/cluster"
)

// varies is the size of keys or values that stand behind their length.
const varies = -1

// ranges is the By of rows whose partitions are ranges of keys. These begin with a
// digest, so ranges of equal size have about as many rows.
const ranges = -1

const (
	id   = 16 // bytes of the ID of a text or a document, and of a signature
	pair = 2 * cluster.KeySize
	// score is the size of a relation with its two scores.
	score = 1 + 8 + 8
	// measured is the size of a verdict of the measure.
	measured = 1 + 1 + 8 + 8
)

// Layout describes the rows of a dataset. Rows of a table of the workspace have the
// table's letter, and its keys without that letter.
type Layout struct {
	Letter byte
	Name   string
	Key    int // bytes of a key
	Value  int // bytes of a value
	By     int // bytes of the key that choose the partition by their hash; 0: all; or ranges
	Help   string
}

// The datasets.
var (
	Names       = Layout{'I', "names", varies, varies, 0, "name of an archive to read →"}
	Sources     = Layout{'i', "sources", varies, varies, 0, "table i"}
	Documents   = Layout{'d', "documents", varies, varies, id, "table d"}
	Texts       = Layout{'t', "texts", id, varies, id, "table t"}
	Around      = Layout{'A', "around", varies, varies, id, "table A"}
	Units       = Layout{'U', "units", id, varies, id, "table U"}
	Round       = Layout{'Q', "units around", varies, varies, id, "table Q"}
	Occurrences = Layout{'x', "occurrences", 2 * id, varies, id, "table x"}
	Revisits    = Layout{'r', "revisits", varies, varies, id, "table r"}
	Wanted      = Layout{'w', "wanted", id, 0, id, "key by which a revisit refers to its capture[16] →"}

	Sightings    = Layout{'B', "sightings", 16, 0, 8, "sentence of a site[8] page[8] →"}
	Questions    = Layout{'J', "questions", 8 + id, 0, 8, "sentence of a site[8] textID[16] →"}
	Frames       = Layout{'l', "frames", 8, 4, 8, "table l"}
	FrameAnswers = Layout{'N', "frame answers", id + 8, 4, id, "textID[16] sentence of a site[8] → pages[4]"}
	Commons      = Layout{'C', "commons", 8, 4, 8, "table C"}
	RareAnswers  = Layout{'D', "rarity answers", id + 8, 4, id, "textID[16] sentence of a site[8] → pages[4]"}

	Signed   = Layout{'g', "signed", id, varies, id, "table g"}
	Shared   = Layout{'L', "shared", id, 0, id, "textID[16] of a text that several pages have →"}
	Postings = Layout{'s', "postings", id + cluster.KeySize, varies, id, "table s → hashes of the site[8] and of the URI[8] of each of the first pages of the text"}
	Edges    = Layout{'e', "edges", varies, 0, cluster.KeySize, "table e"}
	Sets     = Layout{'p', "sets", varies, 0, cluster.KeySize, "table p"}
	Members  = Layout{'M', "members", id + 4, 0, id, "textID[16] partition[4] that compares the text →"}
	Compared = Layout{'E', "compared texts", id, varies, id, "textID[16] → the text, with all that a comparison needs"}
	Verdicts = Layout{'v', "verdicts", pair, score, cluster.KeySize, "table v"}
	Linked   = Layout{'G', "linked", cluster.KeySize + pair, score, cluster.KeySize, "key of the component[20], then as table v"}
	Checked  = Layout{'V', "checked", pair, score, cluster.KeySize, "table V"}
	Parts    = Layout{'P', "parts", pair, score, cluster.KeySize, "table P"}

	Assigned  = Layout{'a', "assigned", id, id, id, "table a"}
	Clusters  = Layout{'c', "clusters", 2 * id, id + score, ranges, "table c"}
	Contained = Layout{'h', "contained", 3 * id, id + score, ranges, "table h"}
	Hosts     = Layout{'H', "hosts", id, 2*id + score, id, "table H"}

	LoneHosts   = Layout{'1', "lone hosts", id, 0, id, "textID[16] of a host in no cluster →"}
	WantedPages = Layout{'2', "wanted pages", 3 * id, 0, id, "docID[16] group[16] textID[16] →"}
	GroupPages  = Layout{'3', "pages of groups", 3 * id, varies, ranges, "group[16] textID[16] docID[16] → length of the place[2], place, value of table d"}

	Tokens       = Layout{'4', "tokens", 8 + cluster.KeySize, 4, 8, "token[8] key[20] → tokens of the text[4]"}
	SharedTokens = Layout{'5', "shared tokens", id + 4 + 8, 8, id, "textID[16] texts with the token[4] token[8] → weight of the key[4] tokens of the text[4]"}
	Entries      = Layout{'6', "entries", 8 + 4 + 4 + cluster.KeySize, 0, 8, "token or band[8] tokens of the text[4] position of the token[4] key[20] →"}
	Records      = Layout{'7', "records", id, varies, id, "textID[16] → tokens of the text[4] token[8]..., those that other texts have too"}
	Candidates   = Layout{'8', "candidates", pair, 0, cluster.KeySize, "key[20] key[20] of two texts that may be similar →"}
	Joined       = Layout{'9', "records to join", id, varies, id, "as 7, in the partitions of the candidates"}

	Measured = Layout{'0', "measured", 3 * id, measured, id, "textID[16] digest of its reading[16] digest of the other reading[16] → verdict of the measure"}

	Counts = Layout{'Z', "counts", varies, varies, 0, "filter 00 number of the task[4] → JSON of what it counted"}
)

// All lists the datasets.
var All = []Layout{Names, Sources, Documents, Texts, Units, Around, Round, Occurrences, Revisits, Wanted,
	Sightings, Questions, Frames, FrameAnswers, Commons, RareAnswers,
	Signed, Shared, Postings, Edges, Sets, Members, Compared, Verdicts, Linked, Checked, Parts,
	Assigned, Clusters, Contained, Hosts, LoneHosts, WantedPages, GroupPages,
	Tokens, SharedTokens, Entries, Records, Candidates, Joined, Measured, Counts}

var byLetter = func() (out [256]*Layout) {
	for i := range All {
		out[All[i].Letter] = &All[i]
	}
	return out
}()

// layoutOf returns the layout of the dataset with a letter.
func layoutOf(letter byte) (l Layout, ok bool) {
	if byLetter[letter] == nil {
		return l, false
	}
	return *byLetter[letter], true
}

// Target returns the partition of a key, of so many. It hashes, since signatures of
// the ring are not spread evenly, unless partitions are ranges.
func (l Layout) Target(key []byte, partitions int) uint32 {
	if partitions <= 1 {
		return 0
	}
	if l.By == ranges {
		at, _ := bits.Mul64(binary.BigEndian.Uint64(key), uint64(partitions))
		return uint32(at)
	}
	if l.By > 0 {
		key = key[:min(l.By, len(key))]
	}
	h := fnv.New64a()
	_, _ = h.Write(key)
	return uint32(h.Sum64() % uint64(partitions))
}
