package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

var (
	errNotCoded = errors.New("not encoded so")
	errTooLong  = errors.New("longer than the limit")
)

// Choices are the soft choices made for a page: its record contradicts itself or
// leaves something open, and extraction chose how to read it. The page is a
// document nevertheless. Choices is a set of bits, so that documents are
// comparable.
type Choices uint32

// The soft choices.
const (
	ChoiceStatusAssumed       Choices = 1 << iota // no status line: taken for a response with status 200
	ChoiceLengthMismatch                          // the HTTP Content-Length differs from the length of the stored body, which counts
	ChoiceEncodingNotUsed                         // a content or transfer coding is declared, but the body does not use it
	ChoiceEncodingNotDeclared                     // undeclared gzip or zstd was undone
	ChoiceTypeSniffed                             // the content decided the media type, against the header or without one
	ChoiceCharsetOverruled                        // the text cannot be in the declared charset
	ChoiceCharsetDetected                         // the charset was guessed from the text
	ChoiceCharsetAssumed                          // nothing tells the charset: windows-1252, as in browsers
	ChoiceFirstSegment                            // the first segment of a record; the others are skipped as continuation
	ChoiceMojibake                                // more of the text than the limit could not be decoded
	ChoiceOverlayDropped                          // the text of a cookie banner or other overlay is left out
	ChoiceRulesUnmatched                          // a site's rules would leave no text or cost too much, so all of it is kept
	ChoiceTextCut                                 // the text is longer than the limit
	ChoiceMainUnsure                              // the main content is uncertain, so all of the text is kept
	ChoiceReadFlat                                // a tree of the page would be too large or too deep, so it is read token by token
	ChoicePagesLost                               // some pages of a PDF document are not read: there are too many, or they are broken
	ChoiceCharactersLost                          // the text has U+FFFD, which stands for what could not be decoded
	ChoiceDigestWrong                             // the block of an uncompressed record does not have the digest that its header states
)

// choiceNames are the names of the bits, in order.
var choiceNames = []string{"status-assumed", "length-mismatch", "encoding-not-used", "encoding-not-declared", "type-sniffed",
	"charset-overruled", "charset-detected", "charset-assumed", "first-segment", "mojibake",
	"overlay-dropped", "site-rules-unmatched", "text-cut", "main-unsure", "read-flat", "pages-lost", "characters-lost", "digest-wrong"}

// set adds a choice if made is true.
func (c *Choices) set(choice Choices, made bool) {
	if made {
		*c |= choice
	}
}

// Names returns the names of the choices.
func (c Choices) Names() []string {
	var out []string
	for i, name := range choiceNames {
		if c&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// MarshalJSON writes the names.
func (c Choices) MarshalJSON() ([]byte, error) { return json.Marshal(c.Names()) }

// UnmarshalJSON reads the names.
func (c *Choices) UnmarshalJSON(b []byte) error {
	var names []string
	if err := json.Unmarshal(b, &names); err != nil {
		return err
	}
	*c = 0
	for _, name := range names {
		i := slices.Index(choiceNames, name)
		if i < 0 {
			return fmt.Errorf("unknown choice %q", name)
		}
		*c |= 1 << i
	}
	return nil
}
