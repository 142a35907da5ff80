// Package look has the look of the pages of the static report and of the review
// server: one style sheet, and functions that write numbers, dates and crawled
// text.
package look

import (
	_ "embed"
	"fmt"

	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"neardup/report"
	"neardup/screen"
)

// Style is the style sheet. It covers light and dark colours, print and narrow
// screens. It loads nothing.
//
//go:embed style.css
var Style string

// Funcs are functions for templates.
var Funcs = template.FuncMap{
	"count":    Count,
	"bytes":    Bytes,
	"percent":  Percent,
	"day":      day,
	"clip":     screen.Characters,
	"clipText": screen.Text,
}

// Count returns an integer with separated thousands.
func Count(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural returns a number with what it counts.
func Plural(n any, one, many string) string {
	if s := Count(n); s != "1" {
		return s + " " + many
	}
	return "1 " + one
}

// Bytes returns a size in decimal units.
func Bytes(n int64) string {
	const units = "kMGTPE"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f, i := float64(n)/1000, 0
	for f >= 999.95 && i < len(units)-1 {
		f, i = f/1000, i+1
	}
	return fmt.Sprintf("%.1f %cB", f, units[i])
}

// Percent returns a share of a whole as a percentage.
func Percent(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}

// day returns the day of a WARC-Date.
func day(date string) string {
	const limit = len("2006-01-02")
	return screen.Characters(date[:min(len(date), limit)], limit)
}

// Relations are the relations of members in words.
var Relations = map[report.Relation]string{
	report.Representative: "stands for the cluster",
	report.Identical:      "has the same text as the representative",
	report.Near:           "reaches the resemblance that is asked for",
	report.Alike:          "has the same sentences but for numbers and a few others",
	report.Contained:      "is contained in the other",
	report.Contains:       "contains the other",
	report.Linked:         "was verified against another member",
	report.Judged:         "was judged to belong to the other",
}
