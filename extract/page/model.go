package page

// ask is a question about a row: is the feature above a limit?
type ask struct {
	feature uint8
	limit   int32
}

// tree asks the same questions of every row. The answers, the first one as the
// lowest bit, are the index of the leaf with the row's weight.
type tree struct {
	asks   [treeDepth]ask
	leaves [1 << treeDepth]int16
}

// weigh returns the log odds, in thousandths, that a line with that row is content.
// This is the sum over the trees, as in gradient boosting (Friedman, Greedy
// Function Approximation: A Gradient Boosting Machine, 2001) with symmetric trees
// (Prokhorenkova et al., CatBoost: unbiased boosting with categorical features,
// 2018). Symmetric trees have no branches that a processor could mispredict.
//
// It ends early if the first trees leave no doubt, as they do for most lines.
func (r *row) weigh() int32 {
	sum := int32(treeBias)
	for i := range trees {
		if i%treesAtOnce == treesAtOnce-1 && (sum > noDoubt || sum < -noDoubt) {
			break
		}
		t := &trees[i]
		a := &t.asks
		leaf := a[0].of(r) | a[1].of(r)<<1 | a[2].of(r)<<2 | a[3].of(r)<<3 | a[4].of(r)<<4 | a[5].of(r)<<5 // all treeDepth, since the compiler unrolls no loop
		sum += int32(t.leaves[leaf&(1<<treeDepth-1)])
	}
	return sum
}

// of returns the answer for a row: 1 if the feature is above the limit, otherwise 0.
func (a *ask) of(r *row) int {
	if r[a.feature%featureRoom] > a.limit {
		return 1
	}
	return 0
}

var _ [0]struct{} = [treeDepth - 6]struct{}{}

const (
	treesAtOnce = 10
	noDoubt     = 2000 // log odds, in thousandths
)
