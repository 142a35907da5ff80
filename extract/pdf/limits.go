package pdf

import "fmt"

// Limits bound the cost of a PDF document.
type Limits struct {
	MaxPages  int   `yaml:"max_pages" json:"max_pages"`   // pages that are read; 0: PDF documents are not read
	MaxMemory int64 `yaml:"max_memory" json:"max_memory"` // bytes that PDFium may use
	MaxSteps  int64 `yaml:"max_steps" json:"max_steps"`   // iterations of PDFium's loops
}

// minMemory is the lower bound of MaxMemory: PDFium takes 18 MB before it reads
// anything.
const minMemory = 32 << 20

// Validate returns an error if a limit is out of its range.
func (l Limits) Validate() error {
	for _, x := range []struct {
		name                string
		value, lower, upper int64
	}{
		{"max_pages", int64(l.MaxPages), 0, 1 << 20},
		{"max_memory", l.MaxMemory, minMemory, 2 << 30},
		{"max_steps", l.MaxSteps, 1 << 20, 1 << 50},
	} {
		switch {
		case x.value < x.lower:
			return fmt.Errorf("%s: %d is under %d", x.name, x.value, x.lower)
		case x.value > x.upper:
			return fmt.Errorf("%s: %d is over %d", x.name, x.value, x.upper)
		}
	}
	return nil
}
