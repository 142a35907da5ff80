package review

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"neardup/audit"
)

// defaultSample is the size of a sample that the form suggests.
const defaultSample = 200

func (s *server) audits(w http.ResponseWriter, r *http.Request) error {
	all, err := s.archive.Audits(r.Context())
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "audits", view{Title: "Audits", Nav: "/audit", Body: struct {
		Audits  []audit.Audit
		Sample  int
		Largest int
	}{all, defaultSample, audit.MaxSize}})
}

func (s *server) draw(w http.ResponseWriter, r *http.Request) error {
	form, err := posted(r)
	if err != nil {
		return err
	}
	name := form.text("name", 4*audit.MaxName)
	d := audit.Design{Population: audit.Population(form.Get("population")), Stratified: form.Get("stratified") != "",
		Different: form.Get("different") != "", Size: form.number("size", audit.MaxSize)}
	seed, err := strconv.ParseUint(form.text("seed", 20), 10, 64)
	d.Seed = seed
	if err != nil {
		form.wrong("seed: want a whole number that is not negative.")
	} else if err := errors.Join(audit.CheckName(name), d.Check()); err != nil {
		form.wrong("%v", err)
	}
	if form.err != nil {
		return form.err
	}
	if _, err := s.archive.Draw(r.Context(), name, d); err != nil {
		return err
	}
	http.Redirect(w, r, "/audit/"+name+"?said=drawn", http.StatusSeeOther)
	return nil
}

func (s *server) audit(w http.ResponseWriter, r *http.Request) error {
	name, err := auditName(r)
	if err != nil {
		return err
	}
	who, err := judge(r)
	if err != nil {
		return err
	}
	result, err := s.archive.Result(r.Context(), name)
	if err != nil {
		return err
	}
	a, err := s.archive.Audit(r.Context(), name)
	if err != nil {
		return err
	}
	var p audit.Progress
	if who != "" {
		if p, err = s.archive.Progress(r.Context(), name, who); err != nil {
			return err
		}
	}
	intervals := []interval{intervalOf("all pairs", result.Overall), intervalOf("pairs of one site", result.SameSite),
		intervalOf("pairs of two sites", result.CrossSite)}
	strata := []interval{}
	if len(a.Strata) > 1 {
		for i, one := range result.Strata[:min(len(result.Strata), len(a.Strata))] {
			strata = append(strata, intervalOf(a.Strata[i].Name, one))
		}
	}
	return s.show(w, r, http.StatusOK, "audit", view{Title: "Audit " + name, Nav: "/audit", Inside: true, Judge: who, Said: said(r), Body: struct {
		Audit     audit.Audit
		Result    audit.Result
		Progress  audit.Progress
		Next      int // item to judge, from 1; 0: all are judged
		Done      bool
		Intervals []interval
		Strata    []interval
	}{a, result, p, p.Next + 1, who != "" && p.Judged >= a.Size && a.Size > 0, intervals, strata}})
}

// beginAudit takes the name of a judge and redirects to the first pair that this
// judge has not judged.
func (s *server) beginAudit(w http.ResponseWriter, r *http.Request) error {
	name, err := auditName(r)
	if err != nil {
		return err
	}
	form, err := posted(r)
	if err != nil {
		return err
	}
	who := form.name()
	if who == "" {
		form.wrong("judge: give a name, under which your judgements are kept.")
	}
	if form.err != nil {
		return form.err
	}
	p, err := s.archive.Progress(r.Context(), name, who)
	if err != nil {
		return err
	}
	remember(w, who)
	to := "/audit/" + name
	if p.Next >= 0 {
		to += "/" + strconv.Itoa(p.Next+1)
	}
	http.Redirect(w, r, to+query("judge", who), http.StatusSeeOther)
	return nil
}

// itemOf returns the index of the item in the path, which counts from 1.
func itemOf(r *http.Request) (name string, i int, err error) {
	if name, err = auditName(r); err != nil {
		return name, 0, err
	}
	n, err := strconv.Atoi(r.PathValue("item"))
	if err != nil || n < 1 || n > maxSize {
		return name, 0, ErrNotFound
	}
	return name, n - 1, nil
}

// item serves the page for judging a pair of a sample. To avoid a bias it hides
// other judges' verdicts and folds the method's.
func (s *server) item(w http.ResponseWriter, r *http.Request) error {
	name, i, err := itemOf(r)
	if err != nil {
		return err
	}
	a := inQuery(r)
	last := a.number("last", maxSize)
	who, err := judge(r)
	if err != nil || a.err != nil {
		return cmp.Or(err, a.err)
	}
	if who == "" {
		http.Redirect(w, r, "/audit/"+name, http.StatusSeeOther)
		return nil
	}
	item, err := s.archive.Item(r.Context(), name, i)
	if err != nil {
		return err
	}
	progress, err := s.archive.Progress(r.Context(), name, who)
	if err != nil {
		return err
	}
	title := "Pair " + strconv.Itoa(i+1) + " of " + strconv.Itoa(progress.Size)
	pair, err := s.archive.Pair(r.Context(), item.Documents[0], item.Documents[1])
	switch {
	case errors.Is(err, ErrNotFound): // a page of an audit that was made elsewhere
		return s.show(w, r, http.StatusNotFound, "gone", view{Title: title, Nav: "/audit", Inside: true, Judge: who, Body: struct {
			Audit        string
			Number, Size int
			Query        string
		}{name, i + 1, progress.Size, query("judge", who)}})
	case err != nil:
		return err
	}
	given, err := s.archive.Judgements(r.Context(), item.Pair)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "judge", view{Title: title, Nav: "/audit", Inside: true,
		Wide: true, Judge: who, Said: said(r), Body: struct {
			pairView
			Audit    string
			Number   int // from 1
			Progress audit.Progress
			Own      audit.Judgement
			Last     int // number of the item that was judged before; 0: none
			Query    string
		}{viewOf(pair, true), name, i + 1, progress, ownOf(given, who), last, query("judge", who)}})
}

// judgeItem stores a judgement and redirects to the next pair that this judge has
// not judged, or to the result.
func (s *server) judgeItem(w http.ResponseWriter, r *http.Request) error {
	name, i, err := itemOf(r)
	if err != nil {
		return err
	}
	form, err := posted(r)
	if err != nil {
		return err
	}
	item, err := s.archive.Item(r.Context(), name, i)
	if err != nil {
		return err
	}
	j := form.judgement(item.Pair)
	if form.err != nil {
		return form.err
	}
	if err := s.keep(r, j); err != nil {
		return err
	}
	remember(w, j.Judge)
	said, number := string(j.Verdict), strconv.Itoa(i+1)
	if j.Verdict == withdrawn {
		http.Redirect(w, r, "/audit/"+name+"/"+number+query("judge", j.Judge, "said", said), http.StatusSeeOther)
		return nil
	}
	p, err := s.archive.Progress(r.Context(), name, j.Judge)
	if err != nil {
		return err
	}
	next := nextOf(p, i)
	if next < 0 {
		http.Redirect(w, r, "/audit/"+name+query("judge", j.Judge), http.StatusSeeOther)
		return nil
	}
	http.Redirect(w, r, "/audit/"+name+"/"+strconv.Itoa(next+1)+query("judge", j.Judge, "said", said, "last", number), http.StatusSeeOther)
	return nil
}

// nextOf returns the first item after i that is not judged, otherwise the first of
// all, or -1 if there is none.
func nextOf(p audit.Progress, i int) int {
	for k := i + 1; k < len(p.Given); k++ {
		if p.Given[k] == "" {
			return k
		}
	}
	return p.Next
}

func (s *server) truthPages(w http.ResponseWriter, r *http.Request) error {
	return s.truth(w, r, 0, "pages.tsv")
}

func (s *server) truthPairs(w http.ResponseWriter, r *http.Request) error {
	return s.truth(w, r, 1, "truth.tsv")
}

func (s *server) truth(w http.ResponseWriter, r *http.Request, which int, file string) error {
	name, err := auditName(r)
	if err != nil {
		return err
	}
	pages, pairs, err := s.archive.Truth(r.Context(), name)
	if err != nil {
		return err
	}
	return download(w, name+"."+file, "text/tab-separated-values; charset=utf-8", [2][]byte{pages, pairs}[which])
}

func (s *server) result(w http.ResponseWriter, r *http.Request) error {
	name, err := auditName(r)
	if err != nil {
		return err
	}
	result, err := s.archive.Result(r.Context(), name)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	return download(w, name+".result.json", "application/json", append(b, '\n'))
}

// labels serves the sample with its judgements, in the format that neardup audit
// import reads.
func (s *server) labels(w http.ResponseWriter, r *http.Request) error {
	name, err := auditName(r)
	if err != nil {
		return err
	}
	l, err := s.archive.Labels(r.Context(), name)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := l.Write(&b); err != nil {
		return err
	}
	return download(w, name+".labels.jsonl", "application/x-ndjson", b.Bytes())
}

// download serves a file. The names of audits need no quoting.
func download(w http.ResponseWriter, name, kind string, b []byte) error {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	_, err := w.Write(b)
	return ignored(err)
}
