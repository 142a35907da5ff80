package ppjoin

// Add appends a record.
func (c *Collection) Add(tokens ...uint32) {
	c.Tokens = append(c.Tokens, tokens...)
	c.Ends = append(c.Ends, len(c.Tokens))
	if c.Alone != nil {
		c.Alone = append(c.Alone, 0)
	}
}
