package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The rules for tables: golang.org/x/net/html, after the specification,
// sections 13.2.6.4.9 to 13.2.6.4.15.

func (s *scanner) inTable() bool {
	t := &s.tok
	switch t.kind {
	case textToken:
		if rules[s.topTag()]&isTablePart != 0 && s.blank() {
			return true
		}
	case startToken:
		switch t.tag {
		case tagCaption:
			s.clearTo(0, tagTable)
			s.mark()
			s.push()
			s.mode = captionMode
			return true
		case tagColgroup:
			s.clearTo(0, tagTable)
			s.push()
			s.mode = columnsMode
			return true
		case tagCol:
			s.implied(tagColgroup)
			return false
		case tagTbody, tagTfoot, tagThead:
			s.clearTo(0, tagTable)
			s.push()
			s.mode = tableBodyMode
			return true
		case tagTd, tagTh, tagTr:
			s.implied(tagTbody)
			return false
		case tagTable:
			if s.close(tableScope, tagTable) {
				s.resetMode()
				return false
			}
			return true
		case tagStyle, tagScript, tagTemplate:
			return s.inHead()
		case tagInput:
			if strings.EqualFold(s.attribute("type"), "hidden") {
				s.pushVoid()
				return true
			}
		case tagForm:
			if s.contains(tagTemplate) || s.form != 0 {
				return true
			}
			s.push()
			s.form = s.ids
			s.pop()
			return true
		}
	case endToken:
		switch t.tag {
		case tagTable:
			if s.close(tableScope, tagTable) {
				s.resetMode()
			}
			return true
		case tagBody, tagCaption, tagCol, tagColgroup, tagHtml, tagTbody, tagTd, tagTfoot, tagTh, tagThead, tagTr:
			return true
		case tagTemplate:
			s.endTemplate()
			return true
		}
	}
	s.fostering = true
	done := s.inBody()
	s.fostering = false
	return done
}

// closeCell closes the open cell or caption.
func (s *scanner) closeCell(i int) bool {
	if i < 0 {
		return false
	}
	s.popTo(i)
	s.clearActive()
	return true
}

func (s *scanner) cell() int {
	for i := len(s.open) - 1; i >= 0; i-- {
		e := &s.open[i]
		if e.space != htmlSpace {
			continue
		}
		if e.tag == tagTd || e.tag == tagTh {
			return i
		}
		if e.stops(tableScope) {
			return -1
		}
	}
	return -1
}

func (s *scanner) inCaption() bool {
	t := &s.tok
	switch t.kind {
	case startToken:
		switch t.tag {
		case tagCaption, tagCol, tagColgroup, tagTbody, tagTd, tagTfoot, tagThead, tagTr:
			if !s.closeCell(s.find(tableScope, tagCaption)) {
				return true
			}
			s.mode = tableMode
			return false
		}
	case endToken:
		switch t.tag {
		case tagCaption, tagTable:
			if !s.closeCell(s.find(tableScope, tagCaption)) {
				return true
			}
			s.mode = tableMode
			return t.tag == tagCaption
		case tagBody, tagCol, tagColgroup, tagHtml, tagTbody, tagTd, tagTfoot, tagTh, tagThead, tagTr:
			return true
		}
	}
	return s.inBody()
}

func (s *scanner) inColumns() bool {
	t := &s.tok
	switch t.kind {
	case textToken:
		if s.blank() {
			return true
		}
	case startToken:
		switch t.tag {
		case tagHtml:
			return s.inBody()
		case tagCol:
			s.pushVoid()
			return true
		case tagTemplate:
			return s.inHead()
		}
	case endToken:
		switch t.tag {
		case tagColgroup:
			if s.topTag() == tagColgroup {
				s.pop()
				s.mode = tableMode
			}
			return true
		case tagCol:
			return true
		case tagTemplate:
			s.endTemplate()
			return true
		}
	}
	if s.topTag() != tagColgroup {
		return true
	}
	s.pop()
	s.mode = tableMode
	return false
}

func (s *scanner) inTableBody() bool {
	t := &s.tok
	switch t.kind {
	case startToken:
		switch t.tag {
		case tagTr:
			s.clearTo(isTableBody, tagHtml)
			s.push()
			s.mode = rowMode
			return true
		case tagTd, tagTh:
			s.implied(tagTr)
			return false
		case tagCaption, tagCol, tagColgroup, tagTbody, tagTfoot, tagThead:
			return !s.endTableBody()
		}
	case endToken:
		switch t.tag {
		case tagTbody, tagTfoot, tagThead:
			if s.find(tableScope, t.tag) >= 0 {
				s.clearTo(isTableBody, tagHtml)
				s.pop()
				s.mode = tableMode
			}
			return true
		case tagTable:
			return !s.endTableBody()
		case tagBody, tagCaption, tagCol, tagColgroup, tagHtml, tagTd, tagTh, tagTr:
			return true
		}
	}
	return s.inTable()
}

func (s *scanner) endTableBody() bool {
	i := s.findAny(tableScope, isTableBody)
	if i < 0 {
		return false
	}
	s.popTo(i)
	s.mode = tableMode
	return true
}

func (s *scanner) inRow() bool {
	t := &s.tok
	switch t.kind {
	case startToken:
		switch t.tag {
		case tagTd, tagTh:
			s.clearTo(0, tagTr)
			s.push()
			s.mark()
			s.mode = cellMode
			return true
		case tagCaption, tagCol, tagColgroup, tagTbody, tagTfoot, tagThead, tagTr:
			return !s.endRow()
		}
	case endToken:
		switch t.tag {
		case tagTr:
			s.endRow()
			return true
		case tagTable:
			return !s.endRow()
		case tagTbody, tagTfoot, tagThead:
			return s.find(tableScope, t.tag) < 0 || !s.endRow()
		case tagBody, tagCaption, tagCol, tagColgroup, tagHtml, tagTd, tagTh:
			return true
		}
	}
	return s.inTable()
}

func (s *scanner) endRow() bool {
	if s.find(tableScope, tagTr) < 0 {
		return false
	}
	s.clearTo(0, tagTr)
	s.pop()
	s.mode = tableBodyMode
	return true
}

func (s *scanner) inCell() bool {
	t := &s.tok
	switch t.kind {
	case startToken:
		switch t.tag {
		case tagCaption, tagCol, tagColgroup, tagTbody, tagTd, tagTfoot, tagTh, tagThead, tagTr:
			if !s.closeCell(s.cell()) {
				return true
			}
			s.mode = rowMode
			return false
		}
	case endToken:
		switch t.tag {
		case tagTd, tagTh:
			if s.closeCell(s.find(tableScope, t.tag)) {
				s.mode = rowMode
			}
			return true
		case tagBody, tagCaption, tagCol, tagColgroup, tagHtml:
			return true
		case tagTable, tagTbody, tagTfoot, tagThead, tagTr:
			if s.find(tableScope, t.tag) < 0 {
				return true
			}
			s.closeCell(s.cell())
			s.mode = rowMode
			return false
		}
	}
	return s.inBody()
}

// quirks reports whether the page's document type asks for the behaviour of old
// browsers, in which a table does not end a paragraph. The list of such types is
// long, so this asks the parser.
func (s *scanner) quirks() bool {
	switch s.doc {
	case "":
		return true
	case "<!DOCTYPE html>", "<!doctype html>":
		return false
	}
	if !s.asked {
		s.asked = true
		doc, err := html.Parse(strings.NewReader(s.doc + "<p><table>"))
		if err != nil {
			s.fail()
			return false
		}
		for n := range doc.Descendants() {
			if n.DataAtom == atom.P {
				s.quirky = n.FirstChild != nil
			}
		}
	}
	return s.quirky
}
