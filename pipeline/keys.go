package pipeline

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"

	"neardup/cluster"
	"neardup/extract"
	"neardup/report"
	"neardup/signature"
)

// Every key and binary value of the store is spelled here, and described byte
// by byte in docs/format.md. The first byte of a key is its table.
const (
	tableMeta       = 'm' // m NAME                               JSON
	tableSource     = 'i' // i PATH                               JSON, Source
	tableDocument   = 'd' // d docID[16] FILE 00 offset[8]        JSON, storedDocument
	tableText       = 't' // t textID[16]                         UTF-8
	tableOccurrence = 'x' // x textID[16] docID[16]               siteHash[8] addressHash[8] kind[1]
	tableRevisit    = 'r' // r docID[16] path[8] FILE 00 offset[8]  JSON, storedRevisit
	tableWanted     = 'w' // w key[16]                            capture
	tableSighting   = 'h' // h digest[16] addressHash[8] textID[16] sentence[4]  -
	tableTemplate   = 'l' // l textID[16] sentence[4]             -
	tableSigned     = 'g' // g textID[16]                         signatures[4], with templates characters[4] left[4]
	tablePosting    = 's' // s signature[16] key[20]              -
	tableEdge       = 'e' // e representative[20] member[20], with cluster.common signature[16]  -
	tablePermuted   = 'q' // q table[2] permuted[8] key[20] texts[4]  -
	tableSet        = 'p' // p set[20] member[20], with a search that scores score[8]  -
	tableVerdict    = 'v' // v leader[20] member[20]              verdict[18]
	tableAssigned   = 'a' // a textID[16]                         representative[16]
	tableCluster    = 'c' // c representative[16] member[16]      against[16] verdict[18]
	tableKept       = 'k' // k outcome[16] textID[16]             representative[16]
	tableName       = 'n' // n digest[16] date[14] docID[16]      -
	tableBrowsed    = 'b' // b cluster[16]                        JSON, browsedCluster
	tableSize       = 'z' // z ^size[4] cluster[16]               -
	tableMember     = 'o' // o cluster[16] number[4]              docID[16] against[16] relation[1] scores[16]
	tableSURT       = 'y' // y SURT 00 date[14] docID[16]         -, or cluster[16] size[4]
	tableDate       = 'f' // f date[14] docID[16]                 likewise
	tableJudgement  = 'j' // j pairDigest[16] judge               JSON, audit.Judgement
	tableAudit      = 'u' // u a NAME                             JSON, audit.Audit
	//                       u i NAME 00 number[4]                JSON, audit.Item
	tableOutcome = 'O' // O pairDigest[16]                     JSON, judgedOutcome
	tableFormer  = 'F' // F textID[16]                         representative[16], or nothing
)

// textID names a text. extract and cluster have types of their own for it.
type textID = cluster.ID

// tableBounds are the first key of a table and the first key behind it.
func tableBounds(table byte) (lower, upper []byte) { return []byte{table}, []byte{table + 1} }

// prefixBounds are the bounds of the keys that start with prefix.
func prefixBounds(prefix []byte) (lower, upper []byte) {
	upper = bytes.Clone(prefix)
	for i := len(upper) - 1; i >= 0; i-- {
		upper[i]++
		if upper[i] != 0 {
			return prefix, upper[:i+1]
		}
	}
	return prefix, nil
}

func join(table byte, parts ...[]byte) []byte {
	n := 1
	for _, p := range parts {
		n += len(p)
	}
	k := make([]byte, 1, n)
	k[0] = table
	for _, p := range parts {
		k = append(k, p...)
	}
	return k
}

func metaKey(name string) []byte           { return join(tableMeta, []byte(name)) }
func sourceKey(path string) []byte         { return join(tableSource, []byte(path)) }
func textKey(t textID) []byte              { return join(tableText, t[:]) }
func signedKey(t textID) []byte            { return join(tableSigned, t[:]) }
func assignedKey(t textID) []byte          { return join(tableAssigned, t[:]) }
func clusterKey(rep, member textID) []byte { return join(tableCluster, rep[:], member[:]) }
func formerKey(t textID) []byte            { return join(tableFormer, t[:]) }

func documentKey(id extract.ID, file string, offset int64) []byte {
	return join(tableDocument, id[:], appendPlace(nil, file, offset))
}

// parseDocumentKey gives the parts of a document's key.
func parseDocumentKey(k []byte) (id extract.ID, file string, offset int64, err error) {
	if len(k) < 1+16 {
		return id, "", 0, corrupt(k)
	}
	file, offset, err = parsePlace(k[1+16:])
	return extract.ID(k[1:17]), file, offset, err
}

// revisitKey has the source's path, unlike documentKey: every revisit record
// has a row, so that all can be accounted for.
func revisitKey(id extract.ID, path, name string, offset int64) []byte {
	return join(tableRevisit, id[:], binary.BigEndian.AppendUint64(nil, hash(path)), appendPlace(nil, name, offset))
}

// parseRevisitKey gives the parts that a document's key has.
func parseRevisitKey(k []byte) (id extract.ID, file string, offset int64, err error) {
	if len(k) < 1+16+8 {
		return id, "", 0, corrupt(k)
	}
	file, offset, err = parsePlace(k[1+16+8:])
	return extract.ID(k[1:17]), file, offset, err
}

// appendPlace appends where a record is: the file's name and the offset.
func appendPlace(b []byte, file string, offset int64) []byte {
	return binary.BigEndian.AppendUint64(append(append(b, file...), 0), uint64(offset))
}

func parsePlace(b []byte) (file string, offset int64, err error) {
	if len(b) < 1+8 || b[len(b)-9] != 0 {
		return "", 0, corrupt(b)
	}
	return string(b[:len(b)-9]), int64(binary.BigEndian.Uint64(b[len(b)-8:])), nil
}

func wantedKey(k extract.Key) []byte { return join(tableWanted, k[:]) }

func occurrenceKey(t textID, d extract.ID) []byte { return join(tableOccurrence, t[:], d[:]) }

func parseOccurrenceKey(k []byte) (t textID, d extract.ID, err error) {
	if len(k) != 1+32 {
		return t, d, corrupt(k)
	}
	return textID(k[1:17]), extract.ID(k[17:]), nil
}

// The parts of a key of tableName. The date is in digits, zeros at its end.
const (
	nameDate = 14
	nameSize = 1 + 16 + nameDate + 16
)

func parseNameKey(k []byte) (d extract.ID, err error) {
	if len(k) != nameSize {
		return d, corrupt(k)
	}
	return extract.ID(k[1+16+nameDate:]), nil
}

func browsedKey(c textID) []byte { return join(tableBrowsed, c[:]) }

// sizeKey puts the largest first.
func sizeKey(size uint32, c textID) []byte {
	return join(tableSize, binary.BigEndian.AppendUint32(nil, ^size), c[:])
}

func parseSizeKey(k []byte) (c textID, err error) {
	if len(k) != 1+4+16 {
		return c, corrupt(k)
	}
	return textID(k[5:]), nil
}

// memberKey is that of a member of a cluster, by its number in the order of
// exports; that of the representative is 0.
func memberKey(c textID, number uint32) []byte {
	return join(tableMember, c[:], binary.BigEndian.AppendUint32(nil, number))
}

// browsedMember is a row of tableMember.
type browsedMember struct {
	document, against        extract.ID
	relation                 report.Relation
	resemblance, containment float64
}

// relations are those of members; in a row is the place here.
var relations = []report.Relation{report.Representative, report.Identical, report.Near, report.Contained, report.Contains,
	report.Linked, report.Judged}

const memberSize = 16 + 16 + scoreSize

func (m browsedMember) append(b []byte) []byte {
	b = append(append(b, m.document[:]...), m.against[:]...)
	return score{Relation(slices.Index(relations, m.relation)), m.resemblance, m.containment}.append(b)
}

func (r row) browsedMember() (m browsedMember, err error) {
	v, err := r.value()
	if err != nil {
		return m, err
	}
	if len(v) != memberSize || int(v[32]) >= len(relations) {
		return m, corrupt(r.key())
	}
	s, err := parseScore(v[32:])
	return browsedMember{extract.ID(v[:16]), extract.ID(v[16:]), relations[v[32]], s.Resemblance, s.Containment}, err
}

// mostSURT are the bytes of a SURT in a key; of what has more the rest does not
// count.
const mostSURT = 512

func surtKey(surt, date string, d extract.ID) []byte {
	return join(tableSURT, []byte(surt[:min(mostSURT, len(surt))]), []byte{0}, []byte(date), d[:])
}

func dateKey(date string, d extract.ID) []byte { return join(tableDate, []byte(date), d[:]) }

// browsedPage is a row of tableSURT or of tableDate.
type browsedPage struct {
	surt, date string // no SURT by date
	document   extract.ID
	cluster    textID
	size       uint32 // 0: in no cluster
}

// appendPlaced appends the value of a page in a cluster.
func appendPlaced(b []byte, c textID, size uint32) []byte {
	return binary.BigEndian.AppendUint32(append(b, c[:]...), size)
}

func (r row) browsedPage() (p browsedPage, err error) {
	k := r.key()
	at := len(k) - nameDate - 16
	v, err := r.value()
	if err != nil {
		return p, err
	}
	if at < 1 || k[0] == tableSURT && (at < 2 || k[at-1] != 0) || len(v) != 0 && len(v) != 20 {
		return p, corrupt(k)
	}
	p.date, p.document = string(k[at:at+nameDate]), extract.ID(k[at+nameDate:])
	if k[0] == tableSURT {
		p.surt = string(k[1 : at-1])
	}
	if len(v) > 0 {
		p.cluster, p.size = textID(v[:16]), binary.BigEndian.Uint32(v[16:])
	}
	return p, nil
}

// occurrence is what a row of tableOccurrence says of a text's page.
type occurrence struct {
	site       uint64 // FNV-1a hash
	address    uint64 // likewise, of the page's address
	navigation bool
}

const occurrenceSize = 8 + 8 + 1

func (o occurrence) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, o.site)
	b = binary.BigEndian.AppendUint64(b, o.address)
	if o.navigation {
		return append(b, 1)
	}
	return append(b, 0)
}

func (r row) occurrence() (o occurrence, err error) {
	v, err := r.value()
	if err != nil {
		return o, err
	}
	if len(v) != occurrenceSize || v[16] > 1 {
		return o, corrupt(r.key())
	}
	return occurrence{site: binary.BigEndian.Uint64(v), address: binary.BigEndian.Uint64(v[8:]), navigation: v[16] == 1}, nil
}

// signedRow is what a row of tableSigned says of a text. The characters are
// those of the text and those of them that are left out as templates; without
// text.templates the row has only the signatures.
type signedRow struct{ signatures, characters, leftOut uint32 }

const signedSize, signedTemplateSize = 4, 4 + 4 + 4

func (s signedRow) append(b []byte, templates bool) []byte {
	b = binary.BigEndian.AppendUint32(b, s.signatures)
	if templates {
		b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, s.characters), s.leftOut)
	}
	return b
}

func (r row) signed() (s signedRow, err error) {
	v, err := r.value()
	if err != nil {
		return s, err
	}
	switch len(v) {
	case signedTemplateSize:
		s.characters, s.leftOut = binary.BigEndian.Uint32(v[4:]), binary.BigEndian.Uint32(v[8:])
		fallthrough
	case signedSize:
		s.signatures = binary.BigEndian.Uint32(v)
		return s, nil
	}
	return s, corrupt(r.key())
}

// The sizes of keys that say where a sentence stands: of its text and its
// number there, behind what names it in tableSighting.
const (
	templateSize = 1 + 16 + 4
	sightingSize = templateSize + 16 + 8
)

// sighting are the parts of a key of tableSighting; the slices are the key's.
type sighting struct {
	digest  []byte // of site and sentence
	address uint64
	place   []byte // the text and the number of the sentence
}

func parseSightingKey(k []byte) (sighting, error) {
	if len(k) != sightingSize {
		return sighting{}, corrupt(k)
	}
	return sighting{k[1:17], binary.BigEndian.Uint64(k[17:]), k[25:]}, nil
}

const postingSize = 1 + 16 + cluster.KeySize

// appendPosting appends the key of a posting to b.
func appendPosting(b []byte, s signature.Signature, k cluster.Key) []byte {
	return append(append(append(b, tablePosting), s[:]...), k[:]...)
}

func parsePostingKey(k []byte) (p cluster.Posting, err error) {
	if len(k) != postingSize {
		return p, corrupt(k)
	}
	return cluster.Posting{Signature: signature.Signature(k[1:17]), Key: cluster.Key(k[17:])}, nil
}

// pairKey is the key of a row about two documents, the larger first.
func pairKey(table byte, a, b cluster.Key) []byte { return join(table, a[:], b[:]) }

func parsePairKey(k []byte) (a, b cluster.Key, err error) {
	if len(k) != 1+2*cluster.KeySize {
		return a, b, corrupt(k)
	}
	return cluster.Key(k[1 : 1+cluster.KeySize]), cluster.Key(k[1+cluster.KeySize:]), nil
}

const edgeSize = 1 + 2*cluster.KeySize

// edgeSize is the size of a key of tableEdge. Where signatures in common are
// counted there is one for each, with the signature.
func (w *Workspace) edgeSize() int {
	if w.config.Cluster.Pairs() && w.config.Cluster.Common > 1 {
		return edgeSize + len(signature.Signature{})
	}
	return edgeSize
}

const scoredSetSize = edgeSize + 8

// parseSetKey gives the parts of a key of tableSet; a score is 0 where the
// search gives none.
func parseSetKey(k []byte) (set, member cluster.Key, score float64, err error) {
	if len(k) == scoredSetSize {
		score = math.Float64frombits(binary.BigEndian.Uint64(k[edgeSize:]))
		k = k[:edgeSize]
	}
	set, member, err = parsePairKey(k)
	return set, member, score, err
}

const permutedSize = 1 + 2 + 8 + cluster.KeySize + 4

// parsePermutedKey returns the parts of a key of tablePermuted: the key of
// package hamming, the largest key of the texts that have the signature, and how
// many these are.
func parsePermutedKey(k []byte) (permuted []byte, largest cluster.Key, texts uint32, err error) {
	if len(k) != permutedSize {
		return nil, largest, 0, corrupt(k)
	}
	return k[1:11], cluster.Key(k[11:]), binary.BigEndian.Uint32(k[31:]), nil
}

// Relation says how a member is like the page that it was verified against.
type Relation byte

// The relations of verified texts, as stored.
const (
	Near      Relation = 1 // resemblance reaches its threshold
	Contained Relation = 2 // the member is contained in the other
	Contains  Relation = 3 // the member contains the other
	Judged    Relation = 4 // people say that the two belong together
)

// inverse is the relation seen from the other page.
func (r Relation) inverse() Relation {
	switch r {
	case Contained:
		return Contains
	case Contains:
		return Contained
	}
	return r
}

// score is a verdict as stored: what the member is to the other page, and how
// much of the text says so.
type score struct {
	Relation                 Relation
	Resemblance, Containment float64
}

const scoreSize = 1 + 8 + 8

func (s score) append(b []byte) []byte {
	b = append(b, byte(s.Relation))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.Resemblance))
	return binary.BigEndian.AppendUint64(b, math.Float64bits(s.Containment))
}

func parseScore(b []byte) (score, error) {
	if len(b) != scoreSize {
		return score{}, corrupt(b)
	}
	return score{
		Relation:    Relation(b[0]),
		Resemblance: math.Float64frombits(binary.BigEndian.Uint64(b[1:])),
		Containment: math.Float64frombits(binary.BigEndian.Uint64(b[9:])),
	}, nil
}

// hash makes a fixed width of a site or a path.
func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s)
	return h.Sum64()
}

var errCorrupt = errors.New("the workspace's database is damaged")

func corrupt(row []byte) error { return fmt.Errorf("%w: row %.40x", errCorrupt, row) }
