package ppjoin

// Add appends a record.
func (c *Collection) Add(tokens ...uint32) {
	c.Tokens = append(c.Tokens, tokens...)
	c.Ends = append(c.Ends, len(c.Tokens))
	if c.Alone != nil {
		c.Alone = append(c.Alone, 0)
	}
}

// Logarithms returns what weights by idf are logarithms of: the number of records
// over each frequency.
func (w *Weights) Logarithms() (frequencies []int, records int) { return w.frequencies, w.records }
