package browsing

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"neardup/pipeline/layout"
	"neardup/pipeline/results"
)

// noDate is the date of pages without one: without a year and a possible month.
const noDate = "00000000000000"

// pageDate returns a WARC-Date, of any precision, as NameDate digits, padded with
// zeros.
func pageDate(date string) string {
	digits := results.DateDigits(date)
	digits = digits[:len(digits)&^1] // half of a two-digit number
	if len(digits) < 4 || len(digits) >= 6 && (digits[4:6] < "01" || digits[4:6] > "12") {
		return noDate
	}
	return digits + noDate[len(digits):]
}

// showDate returns a pageDate in the form of WARC-Date, as far as it is known.
func showDate(digits string) string {
	switch {
	case len(digits) != layout.NameDate || digits == noDate:
		return ""
	case digits[4:] == noDate[4:]:
		return digits[:4]
	case digits[6:] == noDate[6:]:
		return digits[:4] + "-" + digits[4:6]
	}
	return fmt.Sprintf("%s-%s-%sT%s:%s:%sZ", digits[:4], digits[4:6], digits[6:8], digits[8:10], digits[10:12], digits[12:])
}

// dateSpan holds the first and the last of some dates in digits; both are empty
// without dates.
type dateSpan struct{ first, last string }

func (s *dateSpan) add(date string) {
	if date == "" {
		return
	}
	if s.first == "" || date < s.first {
		s.first = date
	}
	s.last = max(s.last, date)
}

// monthOf returns the number of a month, counted from year 0. A date that is only a
// year counts as its first month.
func monthOf(digits string) int {
	year, _ := strconv.Atoi(digits[:4])
	month, _ := strconv.Atoi(digits[4:6])
	return year*12 + max(1, month) - 1
}

// timeline returns buckets of pages by month, without gaps. If that would be more
// than maxBuckets, they are by year, by ten years or by a hundred, so that a single
// page with an early date does not make a long list.
func timeline(months map[int]int) []bucket {
	if len(months) == 0 {
		return nil
	}
	all := slices.Sorted(maps.Keys(months))
	first, last := all[0], all[len(all)-1]
	step := 1
	for _, longer := range []int{12, 120, 1200} {
		if last/step-first/step >= maxBuckets {
			step = longer
		}
	}
	first /= step
	out := make([]bucket, last/step-first+1)
	for i := range out {
		out[i].Label = monthsLabel((first+i)*step, step)
	}
	for m, n := range months {
		out[m/step-first].Pages += n
	}
	return out
}

func monthsLabel(month, step int) string {
	year := month / 12
	switch step {
	case 1:
		return fmt.Sprintf("%04d-%02d", year, month%12+1)
	case 12:
		return fmt.Sprintf("%04d", year)
	}
	return fmt.Sprintf("%04d–%04d", year, year+step/12-1)
}
