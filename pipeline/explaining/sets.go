package explaining

import (
	"encoding/hex"
	"slices"

	"neardup/cluster"
	"neardup/configs"
	"neardup/explain"
	"neardup/pipeline/layout"
	"neardup/pipeline/stages"
	"neardup/signature"
)

// lists adds the lists of the signatures in common. alive reports whether one of
// them was not deleted.
func (p *explained) lists(e *explain.Explanation, shared []signature.Signature) (alive bool, err error) {
	for i, s := range shared {
		if i >= listsShown && alive {
			break
		}
		l := explain.ListOfKey{}
		var keys []cluster.Key
		for r, err := range p.DB.Rows(layout.PrefixBounds(layout.PostingsOf(s))) {
			if err != nil {
				return false, err
			}
			posting, err := layout.ParsePostingKey(r.Key())
			if err != nil {
				return false, err
			}
			keys = append(keys, posting.Key)
			if l.Texts++; l.Texts > p.Config.Cluster.MaxList {
				l.Deleted = "max_list"
				break
			}
		}
		if site := p.Config.Cluster.SiteList; l.Deleted == "" && site > 0 && l.Texts > site {
			concentrated, err := stages.Concentrated(p.Workspace, keys)
			if err != nil {
				return false, err
			}
			if concentrated {
				l.Deleted = "site_list"
			}
		}
		alive = alive || l.Deleted == ""
		if i < min(listsShown, len(e.Signatures.Keys)) {
			e.Signatures.Keys[i].List = &l
		}
		if p.ctx.Err() != nil {
			return false, p.ctx.Err()
		}
	}
	return alive, nil
}

// commonSet is a perhaps-similar set that both texts are in.
type commonSet struct {
	key     cluster.Key
	members int
}

// sets finds the sets of both texts, in one pass over the keys of all sets, and
// returns those that both are in.
func (p *explained) sets(r *explain.Run) (common []commonSet, err error) {
	var of [2][]cluster.Key
	n := 0
	for row, err := range p.DB.Table(layout.TableSet) {
		if err != nil {
			return nil, err
		}
		set, member, _, err := layout.ParseSetKey(row.Key())
		if err != nil {
			return nil, err
		}
		for i, k := range p.keys {
			if member == k {
				of[i] = append(of[i], set)
			}
		}
		if n++; n&0xffff == 0 && p.ctx.Err() != nil {
			return nil, p.ctx.Err()
		}
	}
	all := slices.Concat(of[0], of[1])
	slices.SortFunc(all, cluster.Key.Compare)
	for _, set := range slices.Compact(all) {
		id := set.ID()
		s := explain.Set{ID: hex.EncodeToString(id[:]), Has: [2]bool{slices.Contains(of[0], set), slices.Contains(of[1], set)}}
		for _, err := range p.DB.Rows(layout.PrefixBounds(layout.SetOf(set))) {
			if err != nil {
				return nil, err
			}
			s.Members++
		}
		if r.Sets = append(r.Sets, s); s.Has == [2]bool{true, true} {
			r.Candidate = true
			common = append(common, commonSet{set, s.Members})
		}
	}
	return common, nil
}

// metIn reports whether the two texts were compared in a set. It follows
// dataflow.VerifySets: where every pair is compared, members meet all others;
// otherwise they meet leaders only, and with the closing rule "representative" no
// further leader once they are near one. If the two were not compared, r says which
// texts they were near.
func (p *explained) metIn(set commonSet, r *explain.Run, larger, smaller int) (bool, error) {
	if v := p.Config.Verify; v.EveryPair(set.members) {
		return true, nil
	}
	members := map[cluster.Key]bool{}
	var order []cluster.Key
	for row, err := range p.DB.Rows(layout.PrefixBounds(layout.SetOf(set.key))) {
		if err != nil {
			return false, err
		}
		_, member, _, err := layout.ParseSetKey(row.Key())
		if err != nil {
			return false, err
		}
		members[member] = true
		order = append(order, member)
		if member == p.keys[larger] {
			break // from here on neither text is a leader for the other
		}
	}
	joined := map[cluster.Key]cluster.Key{} // the first leader that each text was near
	members[p.keys[smaller]] = true
	verdicts, err := p.DB.Seeker(layout.TableVerdict)
	if err != nil {
		return false, err
	}
	defer func() { _ = verdicts.Close() }()
	for _, leader := range order {
		if leader == p.keys[larger] {
			break
		}
		if _, ok := joined[leader]; ok {
			continue
		}
		for row, err := range verdicts.Rows(layout.VerdictsOf(leader)) {
			if err != nil {
				return false, err
			}
			l, err := row.Link()
			if err != nil {
				return false, err
			}
			_, already := joined[l.Member]
			if links := p.Config.Verify.Links(l.Score.Relation.Resembles()); links && !already && members[l.Member] {
				joined[l.Member] = leader
			}
		}
		if p.ctx.Err() != nil {
			return false, p.ctx.Err()
		}
	}
	for _, side := range [2]int{larger, smaller} {
		leader, ok := joined[p.keys[side]]
		if !ok || side == smaller && p.Config.Verify.Closing != configs.ClosingRepresentative {
			continue
		}
		page, err := p.firstPage(leader.ID())
		r.Leaders = append(r.Leaders, explain.RunNear{Of: [2]string{"a", "b"}[side], Near: page})
		return false, err
	}
	return true, nil
}
