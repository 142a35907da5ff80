package container

import "neardup/extract/internal/testkit"

// Makers of what is read, and checks, under short names.
var (
	warcRecord  = testkit.WARCRecord
	record      = testkit.Record
	member      = testkit.Member
	members     = testkit.Members
	noise       = testkit.Noise
	arcRecord   = testkit.ARCRecord
	arcRecordOf = testkit.ARCRecordOf
	arcFile     = testkit.ARCFile
	lz4Frame    = testkit.LZ4Frame
	lz4Frames   = testkit.LZ4Frames
	frame       = testkit.Frame
	frames      = testkit.Frames
	bounded     = testkit.Bounded
	repeated    = testkit.Repeated
	sequential  = testkit.Sequential
	aGiB        = testkit.AGiB
	storedBlock = testkit.StoredBlock
)

const (
	arcVersion = testkit.ARCVersion
	gib        = testkit.GiB
	gzipHeader = testkit.GzipHeader
)
