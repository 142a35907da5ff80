package inputs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/remote"
	"os"
	"slices"
	"strings"
)

// The states of a source.
const (
	Pending    = "pending"    // not read yet, or not to its end
	Done       = "done"       // read to its end
	Unreadable = "unreadable" // could not be opened, or not be read to its end; the next run tries again
)

// Source is an input with the state of its reading: a file, an object at a URL, or
// an archive in a WACZ file.
type Source struct {
	Path     string             `json:"path"`             // absolute, without symbolic links; FILE!MEMBER in a WACZ file; in JSON as ShowName shows it
	Name     string             `json:"name"`             // base name of the file as text, as exports show it
	Given    string             `json:"given,omitempty"`  // the file's path as the user gave it, or derived from the directory that was given; as text
	File     string             `json:"file,omitempty"`   // the WACZ file that holds it
	Entry    int                `json:"entry,omitempty"`  // its index in the WACZ file
	Format   container.Format   `json:"format,omitempty"` // format of a text collection; empty for archives
	Size     int64              `json:"size"`
	ModTime  int64              `json:"mtime_ns"`      // of a file
	Tag      string             `json:"tag,omitempty"` // of an object: its ETag, or else its Last-Modified
	Sample   string             `json:"sample"`        // digest of the file's first and last 64 KiB
	State    string             `json:"state"`
	Error    string             `json:"error,omitempty"`
	Position container.Position `json:"position"`          // where reading continues
	Decoded  int64              `json:"decoded,omitempty"` // bytes that the records before it were decoded to
	Counts   RecordCounts       `json:"counts"`
	Ended    []EndedRun         `json:"ended,omitempty"` // records that ended a run
	Digested *Digested          `json:"digested,omitempty"`
	SHA256   string             `json:"sha256,omitempty"`  // of the whole file, once it is done
	Changed  bool               `json:"changed,omitempty"` // it changed while it was read
	Gone     bool               `json:"gone,omitempty"`    // it is unreadable because the file no longer exists
	Again    bool               `json:"again,omitempty"`   // it was read before, and everything is read again
	Note     string             `json:"note,omitempty"`    // only status sets it

	Withdrawn string `json:"withdrawn,omitempty"` // Generation of the patterns that remove captures of it; empty: none does

	NotArchive bool `json:"-"` // it is unreadable because it is no archive

	cause error // why it is unreadable

	shared *sharedZip // nil: the source opens its own file
	at     string     // where a copy of standard input is now, see In; empty: where its path says
}

// RecordCounts accounts for every record of one or more sources: Records = Captures
// + Revisits + the sum of Skipped. Whether a revisit's capture exists is known only
// when all sources are read. A capture that another file had counts as a duplicate
// of the input.
type RecordCounts struct {
	Records  int64            `json:"records"`
	Captures int64            `json:"captures"`
	Revisits int64            `json:"revisits"`          // of captures in these or other sources
	Parsed   int64            `json:"parsed"`            // captures whose HTML was parsed into a tree
	Clipped  int64            `json:"clipped"`           // captures whose payload was cut
	Damaged  int64            `json:"damaged"`           // damaged places in files
	Skipped  map[string]int64 `json:"skipped"`           // by reason
	Kinds    map[string]int64 `json:"kinds,omitempty"`   // captures of HTML pages by kind
	Choices  map[string]int64 `json:"choices,omitempty"` // captures by soft choice made
}

// Add adds the counts of other sources.
func (c *RecordCounts) Add(o RecordCounts) {
	c.Records += o.Records
	c.Captures += o.Captures
	c.Revisits += o.Revisits
	c.Parsed += o.Parsed
	c.Clipped += o.Clipped
	c.Damaged += o.Damaged
	addCounts(&c.Skipped, o.Skipped)
	addCounts(&c.Kinds, o.Kinds)
	addCounts(&c.Choices, o.Choices)
}

// Record counts a record: a document, a revisit, or one that is skipped.
func (c *RecordCounts) Record(d extract.Document, skipped extract.Reason) {
	c.Records++
	switch {
	case skipped != extract.ReasonNone:
		c.Skip(skipped, 1)
	case d.Repeats != nil:
		c.Revisits++
	default:
		c.Capture(d)
	}
}

// Skip counts n records that were skipped for a reason.
func (c *RecordCounts) Skip(reason extract.Reason, n int64) {
	addCounts(&c.Skipped, map[string]int64{string(reason): n})
}

// Capture counts a document.
func (c *RecordCounts) Capture(d extract.Document) {
	c.Captures++
	if d.Parsed {
		c.Parsed++
	}
	if d.Clipped {
		c.Clipped++
	}
	if d.Kind != "" {
		addCounts(&c.Kinds, map[string]int64{string(d.Kind): 1})
	}
	for _, choice := range d.Choices.Names() {
		addCounts(&c.Choices, map[string]int64{choice: 1})
	}
}

// Uncapture reverses Capture.
func (c *RecordCounts) Uncapture(d extract.Document) {
	one := RecordCounts{}
	one.Capture(d)
	c.Captures -= one.Captures
	c.Parsed -= one.Parsed
	c.Clipped -= one.Clipped
	takeCounts(&c.Kinds, one.Kinds)
	takeCounts(&c.Choices, one.Choices)
}

// takeCounts subtracts counts. It deletes entries that become zero, as if they had
// never been there.
func takeCounts(from *map[string]int64, counts map[string]int64) {
	for name, n := range counts {
		if (*from)[name] -= n; (*from)[name] == 0 {
			delete(*from, name)
		}
	}
	if len(*from) == 0 {
		*from = nil
	}
}

func addCounts(to *map[string]int64, counts map[string]int64) {
	if *to == nil {
		*to = map[string]int64{}
	}
	for name, n := range counts {
		(*to)[name] += n
	}
}

// MaxDeaths limits how many runs may end while the same record is read. After that it
// is skipped even if it is harmless when read alone: together with other records it
// may need more memory than there is.
const MaxDeaths = 3

// EndedRun is a record that ended a run, or that was being read when a run ended.
type EndedRun struct {
	Position container.Position `json:"position"` // before the record
	URI      string             `json:"uri,omitempty"`
	Error    string             `json:"error,omitempty"` // how it ended the process; empty: it is read again
	Deaths   int                `json:"deaths"`          // runs that ended while it was read
}

// FilePath returns the path of the source's file.
func (s Source) FilePath() string { return cmp.Or(s.File, s.Path) }

// IsCollection reports whether the source is a text collection, not an archive.
func (s Source) IsCollection() bool { return s.Format != container.FormatRecords }

// Open opens the source for reading at any offset.
func (s Source) Open(ctx context.Context, limits container.Limits) (io.ReaderAt, io.Closer, error) {
	r, c, _, err := s.open(ctx, limits)
	return r, c, err
}

// open is Open, and tells how the source is stored in a WACZ file.
func (s Source) open(ctx context.Context, limits container.Limits) (io.ReaderAt, io.Closer, container.Part, error) {
	s = s.Placed()
	if s.shared != nil {
		r, c, part, err := s.shared.open(ctx, s, limits)
		if err != nil {
			err = fmt.Errorf("%s: %w", s.Shown(), err)
		}
		return r, c, part, err
	}
	if s.File != "" {
		s.shared = &sharedZip{left: 1, compare: NewComparer(limits)}
		return s.open(ctx, limits)
	}
	f, _, err := openFile(ctx, s.Path, s.wanted())
	return f, f, container.Part{}, err
}

// IsGone reports whether the source's file no longer exists. A run that does not
// name it continues without it.
func (s Source) IsGone(ctx context.Context) bool {
	if s.IsObject() {
		_, err := statFile(ctx, s.FilePath())
		return errors.Is(err, fs.ErrNotExist)
	}
	_, err := os.Lstat(s.Placed().FilePath())
	return errors.Is(err, fs.ErrNotExist)
}

// Gone returns the sources of which records were read and whose files no longer exist, one
// for each file. Objects are not asked for, and copies of standard input do not count.
func Gone(ctx context.Context, known []Source) (gone []Source) {
	looked := map[string]bool{}
	for _, s := range known {
		file := s.FilePath()
		if s.Counts.Records == 0 || s.IsCopy() || looked[file] || s.IsObject() {
			continue
		}
		if looked[file] = true; s.IsGone(ctx) {
			gone = append(gone, s)
		}
	}
	return gone
}

// CheckThere returns an error if the source's file does not exist or cannot be
// examined.
func (s Source) CheckThere(ctx context.Context) error {
	_, err := statFile(ctx, s.Placed().FilePath())
	return err
}

// CheckOpens returns an error if the source's file cannot be opened. It does not ask for
// objects.
func (s Source) CheckOpens(ctx context.Context) error {
	if s.IsObject() {
		return nil
	}
	f, _, err := openFile(ctx, s.Placed().FilePath(), remote.Version{})
	if err != nil {
		return err
	}
	return f.Close()
}

// FindAgain returns the sources that the source's file holds now.
func (s Source) FindAgain(ctx context.Context, limits container.Limits) []Source {
	found := findSources(ctx, s.Placed().FilePath(), true, limits)
	if s.at == "" {
		return found
	}
	for i := range found {
		found[i] = found[i].movedTo(s.FilePath())
		found[i].at = s.at
	}
	return found
}

// Forget resets the source as if nothing of it had been read, but for a note that it was.
func (s *Source) Forget() {
	s.Again = s.Again || !s.IsUnread()
	s.Error, s.Gone, s.Changed = "", false, false
	s.State, s.Position, s.Counts, s.Ended = Pending, container.Position{}, RecordCounts{Skipped: map[string]int64{}}, nil
	s.Digested, s.SHA256, s.Withdrawn, s.Decoded = nil, "", "", 0
}

// GoOn makes a source that was found again go on where its reading ended.
func (s *Source) GoOn(from Source) {
	s.Position, s.Counts, s.Ended = from.Position, from.Counts, from.Ended
	s.Digested, s.Withdrawn, s.Decoded = from.Digested, from.Withdrawn, from.Decoded
}

// IsUnread reports whether nothing was read of the source.
func (s Source) IsUnread() bool {
	return s.State != Done && s.Position == container.Position{} && s.Counts.Records == 0 && s.Counts.Damaged == 0
}

// ReadAgain reports whether the source was read before, and not yet since everything is read
// again.
func (s Source) ReadAgain() bool { return s.Again && s.State != Done }

// IsMissing reports whether the file or object did not exist when it was looked
// for.
func (s Source) IsMissing() bool { return errors.Is(s.cause, fs.ErrNotExist) }

// Skips reports whether the record behind a position ended a run and is to be
// skipped.
func (s Source) Skips(at container.Position) bool {
	return slices.ContainsFunc(s.Ended, func(e EndedRun) bool { return e.Position == at && e.Error != "" })
}

// Reader opens the source and returns a reader at its position. The Digester
// digests what is read.
func (s Source) Reader(ctx context.Context, limits container.Limits) (*container.Reader, *Digester, io.Closer, error) {
	file, closer, part, err := s.open(ctx, limits)
	if err != nil {
		return nil, nil, nil, err
	}
	f, err := newDigester(file, s.Digested)
	if err != nil {
		return nil, nil, nil, errors.Join(err, closer.Close())
	}
	var r *container.Reader
	if s.Format == container.FormatRecords {
		r, err = container.NewReader(f, s.Position, limits)
	} else {
		r, err = container.NewCollectionReader(f, s.Format, s.Position, limits)
	}
	if err != nil {
		_ = closer.Close()
		return nil, nil, nil, err
	}
	r.IsPart(part)
	return r, f, closer, nil
}

// ID returns an identifier made of the source's name and content. Rows that come
// from the source are stored under it. So files of one name are told apart, and
// their place does not matter. Files of one name and content count as one.
func (s Source) ID() string { return s.Name + "/" + s.Sample[:min(len(s.Sample), 16)] }

// Place returns the file's path as it was given and, for a WACZ file, the entry.
func (s Source) Place() (path, entry string) {
	if s.File != "" {
		entry = ShowName(strings.TrimPrefix(s.Path, s.File+"!"))
	}
	return cmp.Or(s.Given, ShowName(s.FilePath())), entry
}
