package extract

import (
	"errors"
	"io"
	"sync/atomic"

	"neardup/extract/container"
)

// Account adds up what the records of a file are decoded to, and skips records that
// would exceed what the file is allowed. Take decides, in the order of the records.
// Room tells workers beforehand what is left, so that they do not decode in vain.
type Account struct{ spent atomic.Int64 }

// NewAccount returns the account of a file of which records were read before.
func NewAccount(spent int64) *Account {
	a := &Account{}
	a.spent.Store(spent)
	return a
}

// Spent returns what the records that were taken were decoded to.
func (a *Account) Spent() int64 { return a.spent.Load() }

// Room returns how many bytes a record may be decoded to, by the records that were
// taken so far. The others before it can only leave less.
func (a *Account) Room(raw *container.Raw) int64 { return max(1, raw.Allowed-a.Spent()) }

// Take takes the next record, of which the extraction gave a reason, and returns the
// reason that counts. A record that has no room takes what is left, so that the
// records after it have what their own bytes allow.
func (a *Account) Take(raw *container.Raw, reason Reason) Reason {
	decoded := raw.Inflated + raw.Decoded
	if reason == ReasonEndedRun || decoded == 0 {
		return reason
	}
	if a.Spent()+decoded > raw.Allowed {
		a.spent.Store(max(a.Spent(), raw.Allowed))
		return ReasonInflated
	}
	a.spent.Add(decoded)
	return reason
}

var errInflated = errors.New("over what the file may be decoded to")

// meter counts what a record's content codings are decoded to.
type meter struct {
	r   io.Reader
	raw *container.Raw
}

func (m meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if m.raw.Decoded += int64(n); hasNoRoom(m.raw) {
		err = errInflated
	}
	return n, err
}

// hasNoRoom reports whether a record was decoded to more than it has room for.
func hasNoRoom(raw *container.Raw) bool { return raw.Room > 0 && raw.Inflated+raw.Decoded > raw.Room }

// stepsPerByte is the number of steps of a PDF document that count as one byte that is
// decoded. So many small documents that take long are bounded as those that inflate are.
// By default, one document that takes all of pdf.max_steps, which are 625 MB, has room in
// any file. docs/format.md has what a small document takes.
const stepsPerByte = 8

// stepsLeft returns how many steps a record has room for, and so many more that the
// account sees that it has none. 0 is no limit.
func stepsLeft(raw *container.Raw) int64 {
	if raw.Room <= 0 {
		return 0
	}
	return (max(0, raw.Room-raw.Inflated-raw.Decoded) + 1) * stepsPerByte
}
