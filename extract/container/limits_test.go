package container

import (
	"strings"
	"testing"
)

// limits are those of most tests.
var limits = Limits{
	MaxRecordBytes: 1 << 20, MaxTextBytes: 1 << 20, MaxHeaderBytes: 64 << 10, MaxCodings: 5,
	MaxWindowBytes: 128 << 20, MaxInflation: 200, MaxDecodedBytes: 1 << 30, MaxMembers: 10_000, MaxReplaced: 0.01,
}

// limitsOf are limits with other sizes of records and texts.
func limitsOf(record int64, text int) Limits {
	l := limits
	l.MaxRecordBytes, l.MaxTextBytes = record, text
	return l
}

func TestLimitsAreValidated(t *testing.T) {
	if err := limits.Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Limits){
		"max_record_bytes: 10 is under 1024":      func(l *Limits) { l.MaxRecordBytes = 10 },
		"max_record_bytes: 9223372036854775807":   func(l *Limits) { l.MaxRecordBytes = 1<<63 - 1 },
		"max_text_bytes: -1 is under 1024":        func(l *Limits) { l.MaxTextBytes = -1 },
		"max_text_bytes: 4294967296 is over":      func(l *Limits) { l.MaxTextBytes = 1 << 32 },
		"max_header_bytes: 0 is under 1024":       func(l *Limits) { l.MaxHeaderBytes = 0 },
		"max_codings: 0 is under 1":               func(l *Limits) { l.MaxCodings = 0 },
		"max_window_bytes: 1024 is under 8388608": func(l *Limits) { l.MaxWindowBytes = 1024 },
		"max_window_bytes: 4294967296 is over":    func(l *Limits) { l.MaxWindowBytes = 4 << 30 },
		"max_inflation: 0 is under 1":             func(l *Limits) { l.MaxInflation = 0 },
		"max_decoded_bytes: 0 is under 1048576":   func(l *Limits) { l.MaxDecodedBytes = 0 },
		"max_members: 0 is under 1":               func(l *Limits) { l.MaxMembers = 0 },
		"max_members: 1048577 is over 1048576":    func(l *Limits) { l.MaxMembers = maxEntries + 1 },
		"max_replaced: 1.5 is not in [0, 1]":      func(l *Limits) { l.MaxReplaced = 1.5 },
	} {
		l := limits
		change(&l)
		if err := l.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
