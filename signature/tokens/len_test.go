package tokens

// Len returns the number of records.
func (r Records) Len() int { return len(r.Ends) }
