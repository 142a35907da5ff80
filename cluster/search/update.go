package search

import (
	"bytes"
	"iter"
	"slices"

	"neardup/cluster"
	"neardup/signature"
)

// merged is keys where lists are merged into sets.
type merged struct{ keys }

// Update implements Updater. It looks only at lists that have a changed posting, and
// at those so long that their sites decide whether they are deleted, since sites
// change without postings.
func (m merged) Update(in Input, changed Changes, out ChangeSink, c *Counts) (ok bool, err error) {
	if c.Lists > 0 && c.OfLongest == 0 {
		return false, nil // an earlier version did not count them
	}
	u := updating{options: m.options(), in: in, out: out, counts: c.ListCounts, had: changed.Had}
	next, stop := iter.Pull2(changed.Long)
	defer stop()
	long, err, more := next()
	before := func(s signature.Signature) error { // looks at the long lists before s
		for ; more && err == nil && bytes.Compare(long.Signature[:], s[:]) < 0; long, err, more = next() {
			if err := u.list(long.Signature, &long.LongList, nil); err != nil {
				return err
			}
		}
		return err
	}
	for l, lerr := range changedLists(changed.Postings) {
		if lerr == nil {
			lerr = before(l.signature)
		}
		if lerr != nil {
			return false, lerr
		}
		var was *cluster.LongList
		if more && long.Signature == l.signature {
			kept := long.LongList
			was = &kept
			long, err, more = next()
		}
		if err := u.list(l.signature, was, l.postings); err != nil {
			return false, err
		}
	}
	for ; more && err == nil; long, err, more = next() {
		if err := u.list(long.Signature, &long.LongList, nil); err != nil {
			return false, err
		}
	}
	if err != nil {
		return false, err
	}
	switch {
	case u.longest > u.counts.Longest, u.counts.OfLongest == 0 && u.options.IsLong(u.longest): // long lists were all seen
		u.counts.Longest, u.counts.OfLongest = u.longest, u.ofLongest
	case u.counts.OfLongest <= 0:
		return false, nil // which list is the longest now, only all lists tell
	}
	c.ListCounts = u.counts
	return true, nil
}

// changedList is a list with its changed postings.
type changedList struct {
	signature signature.Signature
	postings  []Changed
}

// changedLists yields the lists that have a changed posting. Each is valid until the
// next step.
func changedLists(changed iter.Seq2[Changed, error]) iter.Seq2[changedList, error] {
	return func(yield func(changedList, error) bool) {
		var l changedList
		for p, err := range changed {
			if err != nil {
				yield(l, err)
				return
			}
			if len(l.postings) > 0 && p.Signature != l.signature {
				if !yield(l, nil) {
					return
				}
				l.postings = l.postings[:0]
			}
			l.signature, l.postings = p.Signature, append(l.postings, p)
		}
		if len(l.postings) > 0 {
			yield(l, nil)
		}
	}
}

// updating is the state of Update.
type updating struct {
	options   cluster.ListOptions
	in        Input
	out       ChangeSink
	counts    cluster.ListCounts
	had       func(signature.Signature) bool
	longest   int64 // of the lists seen, as they are now
	ofLongest int64 // lists seen that have so many postings
	row       []byte
}

// list looks at one list. was is the long list that it was, or nil.
func (u *updating) list(s signature.Signature, was *cluster.LongList, changed []Changed) error {
	grows := int64(0)
	for _, p := range changed {
		if grows++; p.Removed {
			grows -= 2
		}
	}
	if was != nil && was.Postings > int64(u.options.MaxList) && was.Postings+grows > int64(u.options.MaxList) {
		// It was deleted and is deleted, so nobody need read it.
		now := &cluster.LongList{Postings: was.Postings + grows}
		return u.account(s, was, now, u.options.MaxList+1, u.options.MaxList+1)
	}
	members, former, err := u.members(s, changed)
	if err != nil {
		return err
	}
	formerly := &cluster.LongList{Postings: int64(len(former))}
	if was != nil {
		formerly.Concentrated = was.Concentrated
	}
	now := &cluster.LongList{Postings: int64(len(members))}
	if u.options.IsLong(now.Postings) && len(members) <= u.options.MaxList {
		if now.Concentrated, err = u.in.Concentrated(members); err != nil {
			return err
		}
	}
	if err := u.account(s, formerly, now, len(former), len(members)); err != nil {
		return err
	}
	_, had := u.options.Account(*formerly, len(former))
	_, has := u.options.Account(*now, len(members))
	if had == has && len(changed) == 0 {
		return nil
	}
	if had && has && former[0] == members[0] {
		for _, p := range changed {
			by := 1
			if p.Removed {
				by = -1
			}
			if err := u.edge(cluster.Edge{Rep: members[0], Member: p.Key}, by); err != nil {
				return err
			}
		}
		return nil
	}
	if had {
		for e := range cluster.Pairs(former, 0) {
			if err := u.edge(e, -1); err != nil {
				return err
			}
		}
	}
	if has {
		for e := range cluster.Pairs(members, 0) {
			if err := u.edge(e, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// members returns the members of a list and those that it had, from the largest key down.
func (u *updating) members(s signature.Signature, changed []Changed) (members, former []cluster.Key, err error) {
	if u.had != nil && len(changed) > 0 && !u.had(s) {
		for _, p := range changed {
			members = append(members, p.Key)
		}
		slices.SortFunc(members, cluster.Key.Compare)
		return members, nil, nil
	}
	if members, err = u.in.Members(s); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(members, cluster.Key.Compare)
	return members, formerMembers(members, changed), nil
}

func (u *updating) edge(e cluster.Edge, by int) error {
	u.row = append(append(u.row[:0], e.Rep[:]...), e.Member[:]...)
	return u.out.Row(u.row, by)
}

// account counts a list anew, which had n documents and has m.
func (u *updating) account(s signature.Signature, was, now *cluster.LongList, n, m int) error {
	if n > 0 {
		c, _ := u.options.Account(*was, n)
		u.counts.Remove(c)
	}
	if m > 0 {
		c, _ := u.options.Account(*now, m)
		longest, ofLongest := u.counts.Longest, u.counts.OfLongest
		u.counts.Add(c)
		u.counts.Longest, u.counts.OfLongest = longest, ofLongest
	}
	if was.Postings == u.counts.Longest {
		u.counts.OfLongest--
	}
	if now.Postings == u.counts.Longest {
		u.counts.OfLongest++
	}
	if now.Postings > u.longest {
		u.longest, u.ofLongest = now.Postings, 0
	}
	if now.Postings == u.longest {
		u.ofLongest++
	}
	wasLong, isLong := u.options.IsLong(was.Postings), u.options.IsLong(now.Postings)
	switch {
	case isLong && (!wasLong || *was != *now):
		return u.out.Long(s, now)
	case wasLong && !isLong:
		return u.out.Long(s, nil)
	}
	return nil
}

// formerMembers returns the members that a list had, from the largest key down.
func formerMembers(members []cluster.Key, changed []Changed) []cluster.Key {
	if len(changed) == 0 {
		return members
	}
	var former []cluster.Key
	added := map[cluster.Key]bool{}
	for _, p := range changed {
		if p.Removed {
			former = append(former, p.Key)
		} else {
			added[p.Key] = true
		}
	}
	for _, k := range members {
		if !added[k] {
			former = append(former, k)
		}
	}
	slices.SortFunc(former, cluster.Key.Compare)
	return former
}
