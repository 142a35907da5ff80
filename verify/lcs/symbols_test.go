package lcs

import "testing"

// Letters that a fixed multiplier would place side by side are placed apart, so that
// none is far from where the search for it begins.
func TestHostileLetters(t *testing.T) {
	const fibonacci = 0x9E3779B1
	var letters []int32
	for c := int32(2048); c <= 0x10FFFF && len(letters) < 5000; c++ {
		if uint32(c)*fibonacci>>28 == 3 {
			letters = append(letters, c)
		}
	}
	var s symbols
	s.reset()
	s.add(make([]int32, len(letters)), letters)
	longest, run := 0, 0
	for _, e := range s.slots {
		if run++; e == 0 {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest > len(letters)/4 {
		t.Errorf("%d of %d letters are side by side", longest, len(letters))
	}
}
