package report

import (
	"cmp"
	"fmt"
	"testing"
	"time"
)

func TestTimestamp(t *testing.T) {
	for date, want := range map[string]string{
		"2024-09-16T06:09:12Z": "20240916060912", "2024-09-16T06:09:12.345678Z": "20240916060912",
		"2024": "20240101000000", "2024-09": "20240901000000", "2024-09-16T06:0": "20240916060000",
		"": "00000000000000", "Tue": "00000000000000", "203": "00000000000000",
		"20240916060912": "20240916060912", "9999-99-99T99:99:99Z": "99999999999999",
	} {
		if got := timestamp(date); got != want {
			t.Errorf("%q: %s, want %s", date, got, want)
		}
	}
}

func TestIndexed(t *testing.T) {
	for date, want := range map[string]string{
		"2024-09-16T06:09:12.3Z": "20240916060912", "2024": "20240101000000", "2024-02-29": "20240229000000",
		"2023-02-29": "00000000000000", "2024-13-01": "00000000000000", "2024-05-01T25:00:00Z": "00000000000000", "": "00000000000000",
	} {
		if got := indexed(date); got != want {
			t.Errorf("%q: %s, want %s", date, got, want)
		}
	}
}

// Every day of the calendar's cycle of 400 years, beside package time.
func TestMilliseconds(t *testing.T) {
	for day := time.Date(1899, 12, 31, 23, 59, 58, 0, time.UTC); day.Year() < 2300; day = day.AddDate(0, 0, 1) {
		if got, ok := milliseconds(day.Format(time.RFC3339)); !ok || got != day.UnixMilli() {
			t.Fatalf("%v: %d, want %d", day, got, day.UnixMilli())
		}
	}
	for date, want := range map[string]string{
		"1970-01-01T00:00:00.12Z": "120 true", "1970-01-01T00:00:01.1239Z": "1123 true", "1970": "0 true", "0001-01-01T00:00:00Z": "-62135596800000 true",
		"0000-01-01T00:00:00Z": "-62167219200000 true", "1900-02-29": "0 false", "2000-02-29": "951782400000 true", "2023-04-31": "0 false",
		"2023-13-01": "0 false", "": "0 false", "2023-01-01T24:00:00Z": "0 false", "2023-01-01T00:60:00Z": "0 false",
	} {
		ms, ok := milliseconds(date)
		if got := fmt.Sprint(ms, ok); got != want {
			t.Errorf("%q: %s, want %s", date, got, want)
		}
	}
}

func TestMonth(t *testing.T) {
	for date, want := range map[string]string{
		"2024-09-16T06:09:12Z": "2024-09 true", "2024": "2024-01 true", "2024-12": "2024-12 true", "20241231235959": "2024-12 true",
		"2024-13-01": " false", "2024-02-30": " false", "": " false", "yesterday": " false",
	} {
		month, ok := Month(date)
		if got := fmt.Sprint(month, " ", ok); got != want {
			t.Errorf("%q: %s, want %s", date, got, want)
		}
	}
}

func TestCompareDates(t *testing.T) {
	ordered := []string{"", "2020", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.25Z", "2020-01-01T00:00:00.5Z", "2020-01-01T00:00:01Z"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := CompareDates(a, b); got != cmp.Compare(i, j) {
				t.Errorf("%q %q: %d", a, b, got)
			}
		}
	}
}
