package page

import "golang.org/x/net/html"

// mode is an insertion mode.
type mode uint8

const (
	initialMode mode = iota
	beforeHTMLMode
	beforeHeadMode
	headMode
	afterHeadMode
	bodyMode
	textMode
	tableMode
	captionMode
	columnsMode
	tableBodyMode
	rowMode
	cellMode
	templateMode
	afterBodyMode
	afterAfterBodyMode
)

// process handles the current token. Each mode's function reports whether it has
// handled the token, or leaves it to another mode.
func (s *scanner) process() {
	for !s.failed {
		if s.inForeign() {
			if s.foreign() {
				return
			}
		} else if s.step() {
			return
		}
	}
}

func (s *scanner) step() bool {
	switch s.mode {
	case bodyMode:
		return s.inBody()
	case textMode:
		return s.inText()
	case tableMode:
		return s.inTable()
	case captionMode:
		return s.inCaption()
	case columnsMode:
		return s.inColumns()
	case tableBodyMode:
		return s.inTableBody()
	case rowMode:
		return s.inRow()
	case cellMode:
		return s.inCell()
	case templateMode:
		return s.inTemplate()
	case afterBodyMode, afterAfterBodyMode:
		return s.afterBody()
	case headMode:
		return s.inHead()
	case afterHeadMode:
		return s.afterHead()
	}
	return s.beforeHead()
}

// implied handles a start tag that the page implies.
func (s *scanner) implied(t tag) {
	tok := s.tok
	s.tok = scanToken{kind: startToken, tag: t}
	s.process()
	s.tok = tok
}

// blank reports whether the token is white space.
func (s *scanner) blank() bool {
	return s.tok.kind == textToken && isBlank(s.tok.text, s.tok.plain)
}

// beforeHead handles the modes up to the head's start tag.
func (s *scanner) beforeHead() bool {
	if s.blank() {
		return true
	}
	t := &s.tok
	if s.mode == initialMode {
		s.mode = beforeHTMLMode
	}
	if t.kind == endToken && t.tag != tagHead && t.tag != tagBody && t.tag != tagHtml && t.tag != tagBr {
		return true
	}
	start := t.kind == startToken
	if s.mode == beforeHTMLMode {
		s.mode = beforeHeadMode
		if start && t.tag == tagHtml {
			s.push()
			return true
		}
		s.implyElement(tagHtml)
		return false
	}
	if start && t.tag == tagHtml {
		return s.inBody()
	}
	s.mode, s.head = headMode, true
	if start && t.tag == tagHead {
		s.push()
		return true
	}
	s.implyElement(tagHead)
	return false
}

func (s *scanner) implyElement(t tag) { s.pushElement(t, htmlSpace, 0, 0, 0) }

func (s *scanner) inHead() bool {
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
		case tagBase, tagBasefont, tagBgsound, tagLink, tagMeta:
			s.pushVoid()
			return true
		case tagNoscript, tagScript, tagTitle, tagNoframes, tagStyle:
			s.pushRaw()
			return true
		case tagHead:
			return true
		case tagTemplate:
			for i := range s.open {
				if s.open[i].space != htmlSpace { // the parser gives up
					s.fail()
				}
			}
			s.push()
			s.mark()
			s.mode = templateMode
			s.modes = append(s.modes, templateMode)
			return true
		}
	case endToken:
		switch t.tag {
		case tagHead:
			s.pop()
			s.mode = afterHeadMode
			return true
		case tagBody, tagHtml, tagBr:
		case tagTemplate:
			s.endTemplate()
			return true
		default:
			return true
		}
	}
	s.pop() // an implied end tag
	s.mode = afterHeadMode
	return false
}

// pushRaw pushes an element that contains only text.
func (s *scanner) pushRaw() {
	s.push()
	if s.tok.tag == tagTitle && s.top().is&misplaced != 0 { // perhaps before the first title
		s.fail()
	}
	s.original, s.mode = s.mode, textMode
}

func (s *scanner) inText() bool {
	t := &s.tok
	if t.kind != textToken {
		if s.topTag() == tagTitle {
			s.titled = true
		}
		s.pop()
		s.mode = s.original
		return t.kind == endToken
	}
	switch s.topTag() {
	case tagTitle:
		if !s.titled {
			s.title = collapse(html.UnescapeString(t.text))
		}
	case tagTextarea:
		t.text, t.plain = s.withoutLineEnd(), true
		s.emit()
	case tagXmp:
		s.emit()
	}
	return true
}

// emit writes the current text token as content of the current element.
func (s *scanner) emit() {
	top := s.top()
	is := top.is
	s.w.node = top.node
	if s.fosters() {
		is = s.fosterState()
	}
	if is&unshown != 0 {
		return
	}
	t := &s.tok
	if is&overlaid != 0 {
		s.emitOverlaid(is)
		return
	}
	if is&misplaced != 0 {
		n := len(s.w.b)
		s.w.text(t.text, t.plain, is)
		if len(s.w.b) != n || s.w.full && !isBlank(t.text, t.plain) { // it belongs before what was already written
			s.fail()
		}
		return
	}
	s.w.text(t.text, t.plain, is)
}

// emitOverlaid records the text that an overlay would show, unless the page's text
// is full before that.
func (s *scanner) emitOverlaid(is state) {
	if s.dropped || s.w.full && is&misplaced == 0 {
		return
	}
	text := s.tok.text
	if !s.tok.plain {
		text = html.UnescapeString(text)
	}
	if s.dropped = collapse(text) != ""; s.dropped && s.w.full { // perhaps it comes before the limit
		s.fail()
	}
}

func (s *scanner) afterHead() bool {
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
		case tagBody:
			s.push()
			s.mode, s.body = bodyMode, true
			return true
		case tagFrameset:
			s.fail()
			return true
		case tagBase, tagBasefont, tagBgsound, tagLink, tagMeta, tagNoframes, tagScript, tagStyle, tagTemplate, tagTitle:
			return s.inHead()
		case tagHead:
			return true
		}
	case endToken:
		switch t.tag {
		case tagBody, tagHtml, tagBr:
		case tagTemplate:
			s.endTemplate()
			return true
		default:
			return true
		}
	}
	s.implyElement(tagBody)
	s.mode = bodyMode
	return false
}

func (s *scanner) afterBody() bool {
	switch t := &s.tok; {
	case s.blank(), t.kind == startToken && t.tag == tagHtml:
		return s.inBody()
	case s.mode == afterBodyMode && t.kind == endToken && t.tag == tagHtml:
		s.mode = afterAfterBodyMode
		return true
	}
	s.mode = bodyMode
	return false
}

// template returns the place of the innermost template, which must be open.
func (s *scanner) template() int {
	i := len(s.open) - 1
	for s.open[i].tag != tagTemplate || s.open[i].space != htmlSpace {
		i--
	}
	return i
}

func (s *scanner) endTemplate() {
	if !s.contains(tagTemplate) {
		return
	}
	s.popTo(s.template())
	s.clearActive()
	s.modes = s.modes[:len(s.modes)-1]
	s.resetMode()
}

func (s *scanner) inTemplate() bool {
	t := &s.tok
	m := bodyMode
	switch t.kind {
	case textToken:
		return s.inBody()
	case endToken:
		if t.tag == tagTemplate {
			s.endTemplate()
		}
		return true
	default:
		switch t.tag {
		case tagBase, tagBasefont, tagBgsound, tagLink, tagMeta, tagNoframes, tagScript, tagStyle, tagTemplate, tagTitle:
			return s.inHead()
		case tagCaption, tagColgroup, tagTbody, tagTfoot, tagThead:
			m = tableMode
		case tagCol:
			m = columnsMode
		case tagTr:
			m = tableBodyMode
		case tagTd, tagTh:
			m = rowMode
		}
	}
	s.modes[len(s.modes)-1] = m
	s.mode = m
	return false
}

// resetMode sets the mode from the open elements.
func (s *scanner) resetMode() {
	for i := len(s.open) - 1; i >= 0; i-- {
		e := &s.open[i]
		switch e.tag {
		case tagTd, tagTh:
			s.mode = cellMode
		case tagTr:
			s.mode = rowMode
		case tagTbody, tagThead, tagTfoot:
			s.mode = tableBodyMode
		case tagCaption:
			s.mode = captionMode
		case tagColgroup:
			s.mode = columnsMode
		case tagTable:
			s.mode = tableMode
		case tagTemplate:
			if e.space != htmlSpace {
				continue
			}
			if len(s.modes) == 0 {
				s.fail()
				return
			}
			s.mode = s.modes[len(s.modes)-1]
		case tagHead:
			s.mode = headMode
		case tagBody:
			s.mode = bodyMode
		case tagHtml:
			s.mode = afterHeadMode
			if !s.head {
				s.mode = beforeHeadMode
			}
		default:
			if i == 0 {
				s.mode = bodyMode
			}
			continue
		}
		return
	}
}
