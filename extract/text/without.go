package text

import "unicode/utf8"

// Without returns s without those of its Sentences, counted from 0, for which drop
// is true. drop is called once for each sentence, in order. A sentence is removed
// with the mark that ends it. A line that loses all its sentences is removed. The
// rest splits into the same sentences as before: if the mark of one would come to
// stand before the next without the white space that makes it a mark, a space is
// inserted. So it is where the next begins as the number of a note does.
func Without(s string, drop func(i int) bool) string {
	out := make([]byte, 0, len(s))
	line := 0                  // start of the last line in out
	kept, lost := false, false // whether the line has sentences, and whether it lost some
	gap := false               // the previous sentence was left out
	dropped := false
	for start, i := 0, 0; start < len(s); {
		end, next := cut(s, start)
		newline := next > end && s[end] == '\n'
		piece := s[start:next]
		if newline {
			piece = s[start:end]
		}
		_, says := trim(s[start:end])
		if says && drop(i) {
			lost, gap, dropped = true, true, true
		} else {
			if gap {
				out, piece = closeGap(out, line, piece)
			}
			out = append(out, piece...)
			kept, gap = kept || says, false
		}
		if says {
			i++
		}
		if start = next; newline || start == len(s) {
			switch {
			case !lost || kept:
				if newline {
					out = append(out, '\n')
				}
			case newline || line == 0:
				out = out[:line]
			default:
				out = out[:line-1] // the previous line becomes the last, and the last line has no line end
			}
			line, kept, lost, gap = len(out), false, false, false
		}
	}
	if !dropped {
		return s
	}
	return string(out)
}

// closeGap prepares out, whose last line begins at line, and piece for being joined
// after something between them was left out.
func closeGap(out []byte, line int, piece string) ([]byte, string) {
	switch {
	case piece == "":
	case len(out) == line && piece[0] == ' ':
		piece = piece[1:]
	case len(out) > line && piece[0] != ' ':
		if r, _ := utf8.DecodeLastRune(out); !terminal(r) || Note(piece) > 0 {
			out = append(out, ' ')
		}
	}
	return out, piece
}
