package report

import "strings"

// A WARC-Date is kept as the crawler wrote it. Since WARC 1.1 its precision is
// anything from the year to nanoseconds. Hostile files may have any text there.

// timestamp returns a date as 14 digits, by which dates can be ordered. Missing
// parts get their first value. A date without a year is all zeros.
func timestamp(date string) string {
	date, _, _ = strings.Cut(date, ".") // fractions of a second
	const least = "00000101000000"
	digits := make([]byte, 0, len(least))
	for i := 0; i < len(date) && len(digits) < len(least); i++ {
		if c := date[i]; '0' <= c && c <= '9' {
			digits = append(digits, c)
		}
	}
	switch n := len(digits); {
	case n < 4:
		return strings.Repeat("0", len(least))
	case n%2 == 1: // half of a two-digit number
		digits = digits[:n-1]
	}
	return string(digits) + least[len(digits):]
}

// indexed is timestamp for indexes of archives: all zeros if it is no date of the Gregorian
// calendar.
func indexed(date string) string {
	if _, ok := milliseconds(date); !ok {
		return timestamp("")
	}
	return timestamp(date)
}

// milliseconds returns a date as milliseconds since 1970. ok is false if it is no
// date of the Gregorian calendar.
func milliseconds(date string) (ms int64, ok bool) {
	t := timestamp(date)
	number := func(from, to int) (n int64) {
		for _, c := range []byte(t[from:to]) {
			n = n*10 + int64(c-'0')
		}
		return n
	}
	year, month, day := number(0, 4), number(4, 6), number(6, 8)
	hour, minute, second := number(8, 10), number(10, 12), number(12, 14)
	if month < 1 || month > 12 || day < 1 || day > daysOf(year, month) || hour > 23 || minute > 59 || second > 60 {
		return 0, false
	}
	days := year*365 + leapYears(year) - (1970*365 + leapYears(1970)) + day - 1
	for m := int64(1); m < month; m++ {
		days += daysOf(year, m)
	}
	ms = (((days*24+hour)*60+minute)*60 + second) * 1000
	if _, fraction, found := strings.Cut(date, "."); found {
		for i, weight := 0, int64(100); i < len(fraction) && weight > 0 && '0' <= fraction[i] && fraction[i] <= '9'; i++ {
			ms += int64(fraction[i]-'0') * weight
			weight /= 10
		}
	}
	return ms, true
}

// leapYears returns the number of leap years before a year.
func leapYears(year int64) int64 {
	y := max(year-1, -1)
	return (y+4)/4 - (y+100)/100 + (y+400)/400
}

func daysOf(year, month int64) int64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// Month returns the month of a date, as 2006-01. ok is false if it is no date of
// the Gregorian calendar.
func Month(date string) (month string, ok bool) {
	if _, ok := milliseconds(date); !ok {
		return "", false
	}
	t := timestamp(date)
	return t[:4] + "-" + t[4:6], true
}

// Day returns the day of a date, as 2006-01-02. ok is false if it is no date of the
// Gregorian calendar.
func Day(date string) (day string, ok bool) {
	month, ok := Month(date)
	if !ok {
		return "", false
	}
	return month + "-" + timestamp(date)[6:8], true
}
