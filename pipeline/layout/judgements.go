package layout

import (
	"encoding/binary"
)

// JudgementKey returns the key of a judge's judgement of a pair, which is given by
// its digest. With an empty judge it is the prefix of all judgements of the pair.
func JudgementKey(pair []byte, judge string) []byte {
	return key(TableJudgement, pair, []byte(judge))
}

// BehindJudgement does the same for judgements.
func BehindJudgement(after []byte) (lower, upper []byte) { return behind(TableJudgement, after) }

// OutcomeKey returns the key of the outcome of a judged pair.
func OutcomeKey(pair []byte) []byte { return key(TableOutcome, pair) }

// AuditKey returns the key of an audit. With an empty name it is the prefix of all
// audits.
func AuditKey(name string) []byte { return key(TableAudit, []byte("a"), []byte(name)) }

// AuditItems returns the prefix of the items of an audit.
func AuditItems(name string) []byte {
	return key(TableAudit, []byte("i"), []byte(name), []byte{0})
}

// AuditItemKey returns the key of an item of an audit, by its number.
func AuditItemKey(name string, i int) []byte {
	return binary.BigEndian.AppendUint32(AuditItems(name), uint32(i))
}
