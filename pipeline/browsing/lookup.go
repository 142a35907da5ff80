package browsing

import (
	"context"
	"errors"
	"fmt"

	"neardup/pipeline/lookup"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/review"
)

var _ review.Finder = (*Review)(nil)

// Lookup implements review.Finder.
func (r *Review) Lookup(ctx context.Context, page review.Asked, limit int) (a report.Answer, err error) {
	x, err := r.finder()
	if err == nil {
		a, err = x.Page(ctx, lookup.Asked(page), limit)
	}
	switch {
	case errors.Is(err, lookup.ErrBusy):
		err = review.ErrBusy
	case errors.Is(err, workspace.ErrUsage):
		err = fmt.Errorf("%w: %w", review.ErrRefused, err)
	}
	return a, err
}

// MaxPage implements review.Finder.
func (r *Review) MaxPage() int64 { return r.w.Config.Extract.MaxRecordBytes }

// Close closes the index for lookups, if it is open. No lookup may be running.
func (r *Review) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lookups == nil {
		return nil
	}
	x := r.lookups
	r.lookups = nil
	return x.Close()
}

// finder opens the index for lookups on first use, since loading it takes time and
// memory.
func (r *Review) finder() (*lookup.Index, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lookups == nil {
		x, err := lookup.Open(r.w)
		if err != nil {
			return nil, err
		}
		r.lookups = x
	}
	return r.lookups, nil
}
