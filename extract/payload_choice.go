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

// Choices are the soft choices made for a page: where its record contradicts
// itself or leaves something open, and what was done about it. The page is a
// document nonetheless. It is a set of bits, so that documents compare.
type Choices uint16

// The soft choices.
const (
	ChoiceStatusAssumed       Choices = 1 << iota // no status line: taken for an answer with status 200
	ChoiceLengthMismatch                          // the HTTP Content-Length is not that of the stored body, which counts
	ChoiceEncodingNotUsed                         // a content or transfer coding is declared and the body is not so encoded
	ChoiceEncodingNotDeclared                     // gzip or zstd was undone that is not declared
	ChoiceTypeSniffed                             // the media type was decided by the content, against a header or without one
	ChoiceCharsetOverruled                        // the declared charset cannot be that of the text
	ChoiceCharsetDetected                         // the charset was guessed from the text
	ChoiceCharsetAssumed                          // nothing tells the charset: windows-1252, as browsers have it
	ChoiceFirstSegment                            // the first segment of a record; the others are skipped as continuation
	ChoiceMojibake                                // more of the text could not be decoded than the limit
	ChoiceOverlayDropped                          // the text of a cookie banner or the like is left out
	ChoiceRulesUnmatched                          // a site's rules would leave no text: all of it is kept
	ChoiceTextCut                                 // the text is longer than the limit
	ChoiceMainUnsure                              // what is main content is not certain: all of the text is kept
	ChoiceReadFlat                                // a tree of the page would be too large, or too deep: it is read token by token
)

// choiceNames are the names of the bits, in their order.
var choiceNames = []string{"status-assumed", "length-mismatch", "encoding-not-used", "encoding-not-declared", "type-sniffed",
	"charset-overruled", "charset-detected", "charset-assumed", "first-segment", "mojibake",
	"overlay-dropped", "site-rules-unmatched", "text-cut", "main-unsure", "read-flat"}

// set adds a choice, if it was made.
func (c *Choices) set(choice Choices, made bool) {
	if made {
		*c |= choice
	}
}

// Names are the names of the choices.
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
