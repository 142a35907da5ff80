package review

import (
	"neardup/screen"
	"net/http"
	"net/url"
	"unicode/utf8"
)

func (s *server) overview(w http.ResponseWriter, r *http.Request) error {
	o, err := s.archive.Overview(r.Context())
	if err != nil {
		return err
	}
	largest, err := s.archive.Clusters(r.Context(), ClusterQuery{Limit: largestShown})
	if err != nil {
		return err
	}
	audits, err := s.archive.Audits(r.Context())
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "overview", view{Title: "Overview", Nav: "/", Body: struct {
		Overview
		Largest ClusterList
		Audits  int
		Search  PageQuery
	}{o, largest, len(audits), PageQuery{}}})
}

func (s *server) clusters(w http.ResponseWriter, r *http.Request) error {
	a := inQuery(r)
	q := ClusterQuery{After: a.after(), Limit: rowsShown}
	q.MinSize, q.MaxSize = a.sizes()
	if a.err != nil {
		return a.err
	}
	list, err := s.archive.Clusters(r.Context(), q)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "clusters", view{Title: "Clusters", Nav: "/clusters", Body: struct {
		Query ClusterQuery
		ClusterList
		More string
	}{q, list, "/clusters" + query("min", a.Get("min"), "max", a.Get("max"), "after", list.Next)}})
}

func (s *server) contained(w http.ResponseWriter, r *http.Request) error {
	a := inQuery(r)
	after := a.after()
	if a.err != nil {
		return a.err
	}
	list, err := s.archive.Contained(r.Context(), after, rowsShown)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "contained", view{Title: "Contained pages", Nav: "/contained", Body: struct {
		ContainedList
		More string
	}{list, "/contained" + query("after", list.Next)}})
}

func (s *server) search(w http.ResponseWriter, r *http.Request) error {
	a := inQuery(r)
	q := PageQuery{URI: a.text("uri", maxURI), Host: a.text("host", 255), After: a.after(), Limit: rowsShown}
	q.From, q.To = a.period()
	q.MinSize, q.MaxSize = a.sizes()
	if a.err != nil {
		return a.err
	}
	list, err := s.archive.Pages(r.Context(), q)
	if err != nil {
		return err
	}
	v := url.Values{}
	for _, key := range []string{"uri", "host", "from", "to", "min", "max"} {
		if x := a.Get(key); x != "" {
			v.Set(key, x)
		}
	}
	v.Set("after", list.Next)
	return s.show(w, r, http.StatusOK, "search", view{Title: "Search", Nav: "/search", Body: struct {
		Search PageQuery
		PageList
		More string
	}{q, list, "/search?" + v.Encode()}})
}

func (s *server) cluster(w http.ResponseWriter, r *http.Request) error {
	a := inQuery(r)
	after := a.after()
	if a.err != nil {
		return a.err
	}
	if !documents.MatchString(r.PathValue("id")) {
		return ErrNotFound
	}
	c, err := s.archive.Cluster(r.Context(), r.PathValue("id"), after, membersShown)
	if err != nil {
		return err
	}
	second := ""
	for _, m := range c.Members {
		if m.Document != c.Document {
			second = m.Document
			break
		}
	}
	most := 0
	for _, h := range c.HostList {
		most = max(most, h.Pages)
	}
	return s.show(w, r, http.StatusOK, "cluster", view{Title: titleOf(c.Title, c.URI), Nav: "/clusters", Inside: true, Body: struct {
		Cluster
		Timeline timeline
		Second   string // page that the user chose to compare with the representative
		Begins   bool   // the first part of the list
		Busiest  int
		More     string
	}{c, timelineOf(c.Timeline), second, after == "", most, "/cluster/" + c.ID + query("after", c.Next)}})
}

// titleOf returns the title to show for a page.
func titleOf(title, uri string) string {
	const limit = 120
	if title == "" {
		return screen.Characters(uri, limit)
	}
	return screen.Text(title, limit)
}

func (s *server) page(w http.ResponseWriter, r *http.Request) error {
	d, err := document(r, "document")
	if err != nil {
		return err
	}
	p, err := s.archive.Page(r.Context(), d)
	if err != nil {
		return err
	}
	shown, left := beginning(p.Text, maxCharacters)
	return s.show(w, r, http.StatusOK, "page", view{Title: titleOf(p.Title, p.URI), Nav: "/search", Inside: true, Body: struct {
		Page
		Shown   string
		LeftOut int
	}{p, shown, left}})
}

// beginning returns at most limit characters of a text, and how many more it has.
func beginning(text string, limit int) (shown string, left int) {
	n := 0
	for at := range text {
		if n == limit {
			return text[:at], utf8.RuneCountInString(text[at:])
		}
		n++
	}
	return text, 0
}

func (s *server) enforced(w http.ResponseWriter, r *http.Request) error {
	a := inQuery(r)
	after := a.after()
	if a.err != nil {
		return a.err
	}
	list, err := s.archive.Enforced(r.Context(), after, rowsShown)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "enforced", view{Title: "Enforced pairs", Nav: "/enforced", Body: struct {
		EnforcedList
		More string
	}{list, "/enforced" + query("after", list.Next)}})
}
