package review

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"neardup/audit"
)

// Bounds of request parameters: bytes, and a number.
const (
	maxAfter = 4096
	maxURI   = 4096
	maxSize  = 1_000_000_000
)

// Sizes of the parts of lists.
const (
	rowsShown    = 50
	membersShown = 100
	largestShown = 20
)

var (
	documents = regexp.MustCompile(`^[0-9a-f]{2,128}$`)
	dates     = regexp.MustCompile(`^[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01])(T[0-9:.Z]{0,16})?)?)?$`)
)

// query returns the query of a URL, beginning with ?, without empty values.
func query(pairs ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

// asked reads parameters and keeps the first error.
type asked struct {
	url.Values
	err error
}

// inQuery returns the parameters in the query of a request.
func inQuery(r *http.Request) (a asked) {
	var err error
	if a.Values, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		a.wrong("the query cannot be parsed: %v", err)
	}
	return a
}

func (a *asked) wrong(format string, args ...any) {
	if a.err == nil {
		a.err = bad(format, args...)
	}
}

// text returns a value of at most limit bytes.
func (a *asked) text(name string, limit int) string {
	v := strings.TrimSpace(a.Get(name))
	if len(v) > limit || !utf8.ValidString(v) {
		a.wrong("%s: at most %d bytes of text can be asked for.", name, limit)
		return ""
	}
	return v
}

func (a *asked) after() string { return a.text("after", maxAfter) }

func (a *asked) date(name string) string {
	v := a.text(name, 40)
	if v != "" && !dates.MatchString(v) {
		a.wrong("%s: a date is written 2024, 2024-03 or 2024-03-31.", name)
		return ""
	}
	return v
}

// flag returns whether a box is ticked.
func (a *asked) flag(name string) bool {
	v := a.text(name, 20)
	if v != "" && v != "1" {
		a.wrong("%s: want 1, or nothing.", name)
	}
	return v == "1"
}

// number returns an integer from 0 to limit, or 0 if it is missing.
func (a *asked) number(name string, limit int) int {
	v := a.text(name, 20)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > limit {
		a.wrong("%s: want a number from 0 to %d.", name, limit)
		return 0
	}
	return n
}

// sizes returns the bounds of the sizes of clusters to show.
func (a *asked) sizes() (smallest, largest int) {
	smallest, largest = a.number("min", maxSize), a.number("max", maxSize)
	switch {
	case largest == 0 && a.text("max", 20) != "":
		a.wrong("max: want a number from 1 to %d.", maxSize)
	case largest > 0 && smallest > largest:
		a.wrong("min and max: the least size is above the largest.")
	}
	return smallest, largest
}

// period returns two dates or beginnings of dates.
func (a *asked) period() (from, to string) {
	from, to = a.date("from"), a.date("to")
	if n := min(len(from), len(to)); from[:n] > to[:n] {
		a.wrong("from and to: the first date is after the last.")
	}
	return from, to
}

// name returns the name of the judge.
func (a *asked) name() string {
	v := a.text("judge", 4*audit.MaxName)
	if v != "" && audit.CheckJudge(v) != nil {
		a.wrong("judge: a name has at most %d characters, all of which can be seen.", audit.MaxName)
		return ""
	}
	return v
}

// document returns the document ID in the path.
func document(r *http.Request, name string) (string, error) {
	d := r.PathValue(name)
	if !documents.MatchString(d) {
		return "", ErrNotFound
	}
	return d, nil
}

// auditName returns the name of the audit in the path.
func auditName(r *http.Request) (string, error) {
	n := r.PathValue("name")
	if audit.CheckName(n) != nil {
		return "", ErrNotFound
	}
	return n, nil
}

// judgeCookie is the cookie with the judge's name. Forms carry the name themselves.
const judgeCookie = "neardup-judge"

// judge returns the judge's name: from the URL, otherwise from the cookie.
func judge(r *http.Request) (string, error) {
	a := inQuery(r)
	if name := a.name(); name != "" || a.err != nil {
		return name, a.err
	}
	if c, err := r.Cookie(judgeCookie); err == nil {
		if name, err := url.QueryUnescape(c.Value); err == nil && audit.CheckJudge(name) == nil {
			return name, nil
		}
	}
	return "", nil
}

func remember(w http.ResponseWriter, judge string) {
	http.SetCookie(w, &http.Cookie{Name: judgeCookie, Value: url.QueryEscape(judge), Path: "/", MaxAge: 365 * 24 * 3600,
		HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// posted parses a posted form.
func posted(r *http.Request) (*asked, error) {
	var tooLong *http.MaxBytesError
	if err := r.ParseForm(); errors.As(err, &tooLong) {
		return nil, err
	} else if err != nil {
		return nil, bad("the form cannot be parsed: %v", err)
	}
	return &asked{Values: r.PostForm}, nil
}

// judgement returns the judgement in a form. Without a verdict it takes the earlier
// one back.
func (a *asked) judgement(p audit.Pair) audit.Judgement {
	j := audit.Judgement{Pair: p, Judge: a.name(), Verdict: audit.Verdict(a.Get("verdict")), Enforce: a.flag("enforce")}
	if j.Verdict == audit.False {
		j.Cause = audit.Cause(a.Get("cause"))
		if j.Cause != "" && !slices.Contains(audit.Causes, j.Cause) {
			a.wrong("cause: there is no such cause.")
			j.Cause = ""
		}
	}
	j.Note = strings.ReplaceAll(a.text("note", 4*audit.MaxNote), "\r\n", "\n") // browsers send two characters for a line end
	if utf8.RuneCountInString(j.Note) > audit.MaxNote {
		a.wrong("note: at most %d characters are kept.", audit.MaxNote)
	}
	switch j.Verdict {
	case audit.True, audit.False, audit.Unknown, withdrawn:
	default:
		a.wrong("verdict: want true, false or unknown.")
	}
	if j.Judge == "" {
		a.wrong("judge: whose judgement is it? Give a name.")
	}
	return j
}

// withdrawn is the value of the button that takes a verdict back.
const withdrawn audit.Verdict = "withdraw"
