package extract

import (
	"neardup/extract/container"
	"neardup/extract/internal/testkit"
)

// Makers of what is read, and checks, under short names.
var (
	warcRecord  = testkit.WARCRecord
	record      = testkit.Record
	member      = testkit.Member
	members     = testkit.Members
	arcRecord   = testkit.ARCRecord
	arcFile     = testkit.ARCFile
	frames      = testkit.Frames
	checkLines  = testkit.CheckLines
	bounded     = testkit.Bounded
	sequential  = testkit.Sequential
	aGiB        = testkit.AGiB
	storedBlock = testkit.StoredBlock
	in          = testkit.In
	samples     = testkit.Samples
	plainQuotes = testkit.PlainQuotes
	toneMarks   = testkit.ToneMarks
)

const (
	arcVersion = testkit.ARCVersion
	gib        = testkit.GiB
	unit       = testkit.Unit
	gzipHeader = testkit.GzipHeader

	russian, chinese, japanese = testkit.Russian, testkit.Chinese, testkit.Japanese
	greek, english             = testkit.Greek, testkit.English
)

// limits are those of most tests.
var limits = container.Limits{
	MaxRecordBytes: 1 << 20, MaxTextBytes: 1 << 20, MaxHeaderBytes: 64 << 10, MaxCodings: 5,
	MaxWindowBytes: 128 << 20, MaxInflation: 200, MaxDecodedBytes: 1 << 30, MaxMembers: 10_000, MaxReplaced: 0.01,
}

// limitsOf are limits with other sizes of records and texts.
func limitsOf(record int64, text int) container.Limits {
	l := limits
	l.MaxRecordBytes, l.MaxTextBytes = record, text
	return l
}
