package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"

	"neardup/uris"
)

// CorpusPage is a page of a corpus of texts.
type CorpusPage struct {
	RecordID string `json:"record_id" parquet:"record_id"`
	URI      string `json:"uri" parquet:"uri"`
	Date     string `json:"date" parquet:"date"`
	Host     string `json:"host" parquet:"host,dict"`
	Language string `json:"language" parquet:"language,dict"` // ISO 639-1, or 639-3 if there is none; empty: uncertain
	Title    string `json:"title,omitempty" parquet:"title"`
	Byline   string `json:"byline,omitempty" parquet:"byline"`
	Unsure   bool   `json:"main_unsure,omitempty" parquet:"main_unsure"` // the main content is uncertain, so the text is all visible text
	Cluster  string `json:"cluster,omitempty" parquet:"cluster,dict"`
	Size     int64  `json:"cluster_size" parquet:"cluster_size"`
	Action   Action `json:"action" parquet:"action,dict"`
	Path     string `json:"path" parquet:"path,dict"` // path of the file, as in Member
	Entry    string `json:"entry,omitempty" parquet:"entry,dict"`
	Offset   int64  `json:"offset" parquet:"offset"`
	Digest   string `json:"digest" parquet:"digest"`   // payload digest
	TextID   string `json:"text_id" parquet:"text_id"` // first half of SHA-256 of the stored text
	Text     string `json:"text" parquet:"text"`
}

// NewCorpusPage returns a member of a cluster with its text. a is the action of a
// keep list.
func NewCorpusPage(c Cluster, m Member, a Action, text string) CorpusPage {
	p := CorpusPage{RecordID: m.RecordID, URI: m.URI, Date: m.Date, Host: uris.CanonicalHost(uris.Host(m.URI)), Language: languageOf(text), Title: m.Title, Byline: m.Byline, Unsure: m.Unsure,
		Cluster: c.ID, Size: int64(c.Size), Action: a, Path: m.Path, Entry: m.Entry, Offset: m.Offset, Digest: m.Digest, TextID: m.Text, Text: text}
	for _, s := range []*string{&p.RecordID, &p.URI, &p.Date, &p.Host, &p.Title, &p.Byline, &p.Digest, &p.Text, &p.Path, &p.Entry} {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
	return p
}

// Cleaned counts what the pages of a corpus lose without the frames of their sites.
type Cleaned struct {
	Pages      int64
	Framed     int64 // pages without their frame
	Whole      int64 // pages with a frame that are whole, because too little of them would be left
	Characters int64 // of all pages with their frames, in code points
	LeftOut    int64 // of these
}

// Add counts a page with a stored text, of which own is written. framed reports
// whether the stored text has a frame.
func (c *Cleaned) Add(stored, own string, framed bool) {
	characters := int64(utf8.RuneCountInString(stored))
	c.Pages++
	c.Characters += characters
	switch {
	case framed && len(own) == len(stored):
		c.Whole++
	case framed:
		c.Framed++
		c.LeftOut += characters - int64(utf8.RuneCountInString(own))
	}
}

func (c Cleaned) String() string {
	return fmt.Sprintf("frames left out of %d of %d pages: %d of all %d characters; %d pages with a frame are whole, because too little of them would be left",
		c.Framed, c.Pages, c.LeftOut, c.Characters, c.Whole)
}

// The language of a text is that of most of its pieces, which are spread over the
// text. Whatlanggo knows 300 trigrams of each language, and its confidence is wrong
// for texts with more trigrams than that, so pieces are short.
const (
	piece  = 400 // code points
	pieces = 15
)

// languageOf returns the language of a text, by ISO 639-1, or 639-3 if that has
// none. It returns "" if fewer than two thirds of the pieces are in one language.
func languageOf(text string) string {
	letters := []rune(text)
	n := min(pieces, (len(letters)+piece-1)/piece)
	votes, best := map[whatlanggo.Lang]int{}, whatlanggo.Lang(-1)
	for i := range n {
		at := 0
		if n > 1 {
			at = (len(letters) - piece) * i / (n - 1)
		}
		found := whatlanggo.Detect(string(letters[at:min(len(letters), at+piece)]))
		lang := found.Lang
		if found.Confidence == 0 { // several languages fit alike, and Whatlanggo returns any of them
			lang = -1
		}
		if votes[lang]++; votes[lang] > votes[best] {
			best = lang
		}
	}
	if best < 0 || 3*votes[best] < 2*n {
		return ""
	}
	if code := best.Iso6391(); code != "" {
		return code
	}
	return best.Iso6393()
}

// CorpusWriter writes pages one after another. Close ends the output, but does not
// close the underlying writer.
type CorpusWriter interface {
	Page(CorpusPage) error
	Close() error
}

// NewCorpusJSONL returns a writer of one line of JSON for each page.
func NewCorpusJSONL(w io.Writer) CorpusWriter {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return corpusJSONL{e}
}

type corpusJSONL struct{ e *json.Encoder }

func (j corpusJSONL) Page(p CorpusPage) error { return j.e.Encode(p) }
func (j corpusJSONL) Close() error            { return nil }

// NewCorpusParquet returns a writer of one row for each page, compressed with
// Zstandard.
func NewCorpusParquet(w io.Writer) CorpusWriter {
	return corpusParquet{newTableWriter[CorpusPage](w)}
}

type corpusParquet struct{ *tableWriter[CorpusPage] }

func (p corpusParquet) Page(page CorpusPage) error {
	return p.write(&page, len(page.Text)+len(page.URI))
}
