package judged

import (
	"slices"

	"neardup/cluster"
)

// graph is neighbours by text.
type graph map[cluster.ID][]cluster.ID

func (g graph) add(a, b cluster.ID) { g[a], g[b] = append(g[a], b), append(g[b], a) }

// reach returns the texts that can be reached from one, itself among them.
func (g graph) reach(from cluster.ID) (out []cluster.ID) {
	out = []cluster.ID{from}
	for i := 0; i < len(out); i++ {
		for _, n := range g[out[i]] {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	slices.SortFunc(out, compareIDs)
	return out
}

func (g graph) connected(a, b cluster.ID) bool { return slices.Contains(g.reach(a), b) }

// slowEnforce follows the package's description word by word, on everything at
// once, and looks up nothing that it could compute again.
func slowEnforce(w *world, pairs []Pair) []Outcome {
	for i, p := range pairs {
		pairs[i] = p.normal()
		for _, t := range slices.Concat(p.A, p.B) {
			if _, ok := w.texts[t]; !ok {
				w.texts[t] = Text{t, t, t}
			}
		}
	}
	var ids []cluster.ID
	for t := range w.texts {
		ids = append(ids, t)
	}
	slices.SortFunc(ids, compareIDs)
	larger := func(a, b cluster.ID) int {
		x, _ := w.Key(a)
		y, _ := w.Key(b)
		return x.Compare(y)
	}

	representative := func(texts []cluster.ID) cluster.ID {
		var former []cluster.ID
		for _, t := range texts {
			if slices.ContainsFunc(ids, func(x cluster.ID) bool { return x != t && w.texts[x].Cluster == t }) {
				former = append(former, t)
			}
		}
		if len(former) == 0 {
			former = texts
		}
		return slices.MinFunc(former, larger)
	}

	// 1. Groups.
	outcomes := make([]Outcome, len(pairs))
	var apart [][2]cluster.ID
	var joins []int
	for i, p := range pairs {
		var these [][2]cluster.ID
		for _, a := range p.A {
			for _, b := range p.B {
				these = append(these, [2]cluster.ID{a, b})
				if a == b && !p.Join {
					outcomes[i] = SameText
				}
			}
		}
		if p.Join {
			joins = append(joins, i)
		} else if outcomes[i] == Followed {
			apart = append(apart, these...)
		}
	}
	within := func(p Pair) bool {
		for _, t := range slices.Concat(p.A, p.B) {
			if w.texts[t].Cluster != w.texts[p.A[0]].Cluster {
				return false
			}
		}
		return true
	}
	slices.SortStableFunc(joins, func(i, j int) int {
		if x, y := within(pairs[i]), within(pairs[j]); x != y {
			return compareBool(y, x)
		}
		return pairs[i].compare(pairs[j])
	})
	welded := graph{}
	var links [][2]cluster.ID
	for _, i := range joins {
		p := pairs[i]
		tried := graph{}
		for _, l := range links {
			tried.add(l[0], l[1])
		}
		var more [][2]cluster.ID
		for _, b := range p.B {
			more = append(more, [2]cluster.ID{p.A[0], b})
		}
		for _, a := range p.A[1:] {
			more = append(more, [2]cluster.ID{a, p.B[0]})
		}
		for _, l := range more {
			tried.add(l[0], l[1])
		}
		for _, x := range apart {
			if tried.connected(x[0], x[1]) {
				outcomes[i] = Contradicted
			}
		}
		if outcomes[i] == Followed {
			links, welded = append(links, more...), tried
		}
	}

	// 2. United clusters, and how each group is reached.
	united := graph{}
	for _, l := range links {
		united.add(l[0], l[1])
	}
	verdicts := graph{}
	for _, t := range ids {
		if x := w.texts[t]; x.Against != t {
			united.add(t, x.Against)
			verdicts.add(t, x.Against)
		}
	}
	name := func(t cluster.ID) cluster.ID { return welded.reach(t)[0] } // of a group
	up, depth := map[cluster.ID]cluster.ID{}, map[cluster.ID]int{}
	for _, t := range ids {
		all := united.reach(t)
		if all[0] != t {
			continue
		}
		root := name(representative(all))
		up[root] = root
		for queue := []cluster.ID{root}; len(queue) > 0; queue = queue[1:] {
			for _, x := range welded.reach(queue[0]) {
				near := slices.SortedFunc(slices.Values(verdicts[x]), compareIDs)
				for _, n := range near {
					if n := name(n); up[n] == (cluster.ID{}) {
						up[n], depth[n] = queue[0], depth[queue[0]]+1
						queue = append(queue, n)
					}
				}
			}
		}
	}

	// 3. Who leaves.
	left := map[cluster.ID]bool{}
	path := func(x cluster.ID) (out []cluster.ID) { // up to the beginning
		for out = []cluster.ID{x}; up[x] != x; out = append(out, x) {
			x = up[x]
		}
		return out
	}
	top := func(x cluster.ID) cluster.ID {
		for !left[x] && up[x] != x {
			x = up[x]
		}
		return x
	}
	first := func(x cluster.ID) cluster.ID { return slices.MinFunc(welded.reach(x), larger) }
	type leaver struct {
		leaves, stays cluster.ID
		free          bool
	}
	var all []leaver
	for _, a := range apart {
		x, y := name(a[0]), name(a[1])
		switch {
		case !united.connected(x, y):
		case slices.Contains(path(x), y):
			all = append(all, leaver{x, y, false})
		case slices.Contains(path(y), x):
			all = append(all, leaver{y, x, false})
		case larger(first(x), first(y)) > 0:
			all = append(all, leaver{x, y, true})
		default:
			all = append(all, leaver{y, x, true})
		}
	}
	slices.SortFunc(all, func(a, b leaver) int {
		switch {
		case a.free != b.free:
			return compareBool(a.free, b.free)
		case depth[a.leaves] != depth[b.leaves]:
			return depth[a.leaves] - depth[b.leaves]
		}
		return larger(first(a.leaves), first(b.leaves))
	})
	for _, l := range all {
		if top(l.leaves) == top(l.stays) {
			left[l.leaves] = true
		}
	}

	// 4 and 5. Clusters of what is left together.
	part := map[cluster.ID][]cluster.ID{}
	for _, t := range ids {
		part[top(name(t))] = append(part[top(name(t))], t)
	}
	now := map[cluster.ID]Text{}
	for _, texts := range part {
		kept := graph{}
		for _, t := range texts {
			if a := w.texts[t].Against; a != t && slices.Contains(texts, a) {
				kept.add(t, a)
			}
		}
		for _, l := range links {
			if slices.Contains(texts, l[0]) && !kept.connected(l[0], l[1]) {
				kept.add(l[0], l[1])
			}
		}
		representative := representative(texts)
		now[representative] = Text{representative, representative, representative}
		for queue := []cluster.ID{representative}; len(queue) > 0; queue = queue[1:] {
			for _, n := range kept[queue[0]] {
				if _, ok := now[n]; !ok {
					now[n] = Text{n, representative, queue[0]}
					queue = append(queue, n)
				}
			}
		}
	}
	w.texts = now
	return outcomes
}
