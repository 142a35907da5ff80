package lookup

// SetLimit limits the members of signature lists that a lookup reads.
func (x *Index) SetLimit(postings int) { x.limit = postings }

// Hold takes all workers until release is called.
func (x *Index) Hold() (release func()) {
	var held []*worker
	for range cap(x.workers) {
		held = append(held, <-x.workers)
	}
	return func() {
		for _, wk := range held {
			x.workers <- wk
		}
	}
}

// Waiting is how many lookups wait or are at work; MaxWaiting is how many may.
func (x *Index) Waiting() int    { return int(x.waiting.Load()) }
func (x *Index) MaxWaiting() int { return cap(x.workers) * (1 + maxWaiting) }
