package keep

import (
	"cmp"
	"slices"
)

// Limits of the comparisons in a group. If its texts have at most allPairs pairs,
// all are compared. Otherwise each text is compared with at most leaders others, so
// the work is linear in their number, and more pages stay than necessary.
const (
	allPairs = 128
	leaders  = 64
)

// compareTexts finds which nodes can replace which.
func (x *chooser) compareTexts() error {
	for _, o := range x.nodes {
		var err error
		if o.length, err = x.texts.Length(o.text); err != nil {
			return err
		}
	}
	for _, g := range x.groups {
		var err error
		if len(g) <= allPairs {
			err = x.compareAll(g)
		} else {
			err = x.compareLeaders(g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *chooser) compareAll(group []int) error {
	for i, a := range group {
		for _, b := range group[:i] {
			if _, err := x.compareTwo(a, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareLeaders compares each text with earlier leaders, those nearest to it in
// length. A leader is a text that no earlier leader covers.
func (x *chooser) compareLeaders(group []int) error {
	var byLength []int // the leaders
	for _, o := range group {
		length := x.nodes[o].length
		at, _ := slices.BinarySearchFunc(byLength, length, func(l, length int) int { return cmp.Compare(x.nodes[l].length, length) })
		low, high := at-1, at
		covered := false
		for range leaders {
			l := 0
			switch {
			case low < 0 && high == len(byLength):
				l = -1
			case high == len(byLength), low >= 0 && length-x.nodes[byLength[low]].length <= x.nodes[byLength[high]].length-length:
				l, low = byLength[low], low-1
			default:
				l, high = byLength[high], high+1
			}
			if l < 0 {
				break
			}
			common, err := x.compareTwo(l, o)
			if err != nil {
				return err
			}
			if covered = x.Rules.covers(x.nodes[l].length, length, common); covered {
				break
			}
		}
		if !covered {
			byLength = slices.Insert(byLength, at, o)
		}
	}
	return nil
}

// compareTwo compares two nodes and adds the edges between them. Pages about different
// subjects, such as two sizes of an article, do not replace each other, however equal they
// are. They may be in one cluster by a page of another site.
func (x *chooser) compareTwo(a, b int) (common int, err error) {
	n, m := x.nodes[a], x.nodes[b]
	need := min(x.need(n.length, m.length), x.need(m.length, n.length))
	if need == 0 || need > min(n.length, m.length) {
		return 0, nil
	}
	if n.text == m.text {
		common = n.length
	} else if common, err = x.texts.Common(n.text, m.text, need); err != nil || common < need {
		return common, err
	}
	if n.text != m.text && (x.Rules.covers(n.length, m.length, common) || x.Rules.covers(m.length, n.length, common)) {
		if different, err := x.texts.DifferentSubjects(n.text, m.text); err != nil || different {
			return 0, err
		}
	}
	for _, d := range [][2]int{{a, b}, {b, a}} {
		if x.nodes[d[0]].derived && !x.nodes[d[1]].derived || x.nodes[d[1]].payload != "" && x.nodes[d[0]].payload != x.nodes[d[1]].payload {
			continue
		}
		if x.Rules.covers(x.nodes[d[0]].length, x.nodes[d[1]].length, common) {
			x.nodes[d[0]].to = append(x.nodes[d[0]].to, edge{d[1], common})
			x.nodes[d[1]].from = append(x.nodes[d[1]].from, edge{d[0], common})
		}
	}
	return common, nil
}
