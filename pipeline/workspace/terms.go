package workspace

import (
	"neardup/configs"
	"neardup/pipeline/layout"
	"neardup/signature/terms"
)

// Method returns the config for signing and comparing texts: with the frequencies of
// terms that the stage sign counted, if the method weighs by them. It reads them once.
func (w *Workspace) Method() (configs.Config, error) {
	c := w.Config
	if !c.CountsTerms() {
		return c, nil
	}
	w.counting.Lock()
	defer w.counting.Unlock()
	if w.counted == nil {
		var failure error
		f := terms.NewFrequencies(func(yield func(uint64, terms.Count) bool) {
			for r, err := range w.DB.Table(layout.TableTerm) {
				var term uint64
				var n uint32
				if err == nil {
					term, n, err = r.Common()
				}
				if err != nil {
					failure = err
					return
				}
				if !yield(term, terms.Count(n)) {
					return
				}
			}
		})
		if failure != nil {
			return c, failure
		}
		w.counted = f
	}
	c.Text.Terms.Collection = w.counted
	return c, nil
}

// ForgetTerms has Method read the frequencies again, which are about to be counted.
func (w *Workspace) ForgetTerms() {
	w.counting.Lock()
	defer w.counting.Unlock()
	w.counted = nil
}
