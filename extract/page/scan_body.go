package page

import (
	"strings"

	"golang.org/x/net/html"
)

// The rules for a page's body: golang.org/x/net/html, after the specification,
// section 13.2.6.4.7.

func (s *scanner) inBody() bool {
	switch s.tok.kind {
	case startToken:
		return s.startInBody()
	case endToken:
		return s.endInBody()
	}
	if s.empty != 0 && s.empty == s.top().id {
		if s.blank() && s.withoutLineEnd() == "" {
			return true
		}
		s.empty = 0
	}
	s.reconstruct()
	s.emit()
	return true
}

// withoutLineEnd returns the text of the current token without a leading line end,
// which does not count at the start of a pre or a textarea.
func (s *scanner) withoutLineEnd() string {
	text := strings.ReplaceAll(strings.ReplaceAll(s.tok.text, "\r\n", "\n"), "\r", "\n")
	return strings.TrimPrefix(strings.TrimPrefix(html.UnescapeString(text), "\r"), "\n")
}

func (s *scanner) startInBody() bool {
	t := &s.tok
	switch t.tag {
	case tagHtml, tagBody: // its attributes do not matter
	case tagBase, tagBasefont, tagBgsound, tagLink, tagMeta, tagNoframes, tagScript, tagStyle, tagTemplate, tagTitle:
		return s.inHead()
	case tagFrameset:
		if !s.body && len(s.w.b) == 0 { // it may replace the body
			s.fail()
		}
	case tagAddress, tagArticle, tagAside, tagBlockquote, tagCenter, tagDetails, tagDialog, tagDir, tagDiv, tagDl, tagFieldset,
		tagFigcaption, tagFigure, tagFooter, tagHeader, tagHgroup, tagMain, tagMenu, tagNav, tagOl, tagP, tagSearch, tagSection,
		tagSummary, tagUl, tagPre, tagListing, tagPlaintext:
		s.close(buttonScope, tagP)
		s.push()
	case tagH1, tagH2, tagH3, tagH4, tagH5, tagH6:
		s.close(buttonScope, tagP)
		if rules[s.topTag()]&isHeading != 0 {
			s.pop()
		}
		s.push()
	case tagForm:
		if s.form != 0 && !s.contains(tagTemplate) {
			return true
		}
		s.close(buttonScope, tagP)
		s.push()
		if !s.contains(tagTemplate) {
			s.form = s.ids
		}
	case tagLi, tagDd, tagDt:
		s.closeItem()
		s.close(buttonScope, tagP)
		s.push()
	case tagButton:
		s.close(defaultScope, tagButton)
		s.reconstruct()
		s.push()
	case tagA:
		for i := len(s.active) - 1; i >= 0 && s.active[i].tag != tagOther; i-- {
			if s.active[i].tag == tagA {
				s.closeLink(s.active[i].id)
				break
			}
		}
		s.reconstruct()
		s.pushFormatting()
	case tagB, tagBig, tagCode, tagEm, tagFont, tagI, tagS, tagSmall, tagStrike, tagStrong, tagTt, tagU:
		s.reconstruct()
		s.pushFormatting()
	case tagNobr:
		s.reconstruct()
		if s.find(defaultScope, tagNobr) >= 0 {
			s.endFormatting(tagNobr)
			s.reconstruct()
		}
		s.pushFormatting()
	case tagApplet, tagMarquee, tagObject:
		s.reconstruct()
		s.push()
		s.mark()
	case tagTable:
		if s.contains(tagP) && !s.quirks() {
			s.close(buttonScope, tagP)
		}
		s.push()
		s.mode = tableMode
	case tagInput:
		s.close(defaultScope, tagSelect)
		fallthrough
	case tagArea, tagBr, tagEmbed, tagImg, tagKeygen, tagWbr:
		s.reconstruct()
		s.pushVoid()
	case tagParam, tagSource, tagTrack:
		s.pushVoid()
	case tagHr:
		s.close(buttonScope, tagP)
		if s.find(defaultScope, tagSelect) >= 0 {
			s.imply(tagOther)
		}
		s.pushVoid()
	case tagImage:
		t.tag = tagImg
		return false
	case tagXmp:
		s.close(buttonScope, tagP)
		s.reconstruct()
		s.pushRaw()
	case tagTextarea, tagIframe, tagNoembed, tagNoscript:
		s.pushRaw()
	case tagSelect:
		if s.close(defaultScope, tagSelect) {
			return true
		}
		s.reconstruct()
		s.push()
	case tagOption, tagOptgroup:
		except := tagOther
		if t.tag == tagOption {
			except = tagOptgroup
		}
		if s.find(defaultScope, tagSelect) >= 0 {
			s.imply(except)
		} else if s.topTag() == tagOption {
			s.pop()
		}
		s.reconstruct()
		s.push()
	case tagRb, tagRtc, tagRp, tagRt:
		except := tagOther
		if t.tag == tagRp || t.tag == tagRt {
			except = tagRtc
		}
		if s.find(defaultScope, tagRuby) >= 0 {
			s.imply(except)
		}
		s.push()
	case tagMath, tagSvg:
		space := uint8(svgSpace)
		if t.tag == tagMath {
			space = mathSpace
		}
		s.reconstruct()
		s.pushForeign(space)
	case tagCaption, tagCol, tagColgroup, tagFrame, tagHead, tagTbody, tagTd, tagTfoot, tagTh, tagThead, tagTr:
	default:
		s.reconstruct()
		s.push()
	}
	return true
}

// closeItem closes the list item that a new one ends.
func (s *scanner) closeItem() {
	li := s.tok.tag == tagLi
	for i := len(s.open) - 1; i >= 0; i-- {
		e := &s.open[i]
		if li && e.tag == tagLi || !li && (e.tag == tagDd || e.tag == tagDt) {
			s.popTo(i)
			return
		}
		if rules[e.tag]&isPassed == 0 && e.special() {
			return
		}
	}
}

// closeLink closes the link that a new one ends.
func (s *scanner) closeLink(id int32) {
	s.endFormatting(tagA)
	if i := s.index(id); i >= 0 {
		s.remove(i)
	}
	if i := s.activeIndex(id); i >= 0 {
		s.removeActive(i)
	}
}

func (s *scanner) endInBody() bool {
	t := &s.tok
	switch t.tag {
	case tagBody:
		if s.find(defaultScope, tagBody) >= 0 {
			s.mode = afterBodyMode
		}
	case tagHtml:
		if s.find(defaultScope, tagBody) >= 0 {
			s.mode = afterBodyMode
			return false
		}
	case tagAddress, tagArticle, tagAside, tagBlockquote, tagButton, tagCenter, tagDetails, tagDialog, tagDir, tagDiv, tagDl,
		tagFieldset, tagFigcaption, tagFigure, tagFooter, tagHeader, tagHgroup, tagListing, tagMain, tagMenu, tagNav, tagOl,
		tagPre, tagSearch, tagSection, tagSelect, tagSummary, tagUl, tagDd, tagDt:
		s.close(defaultScope, t.tag)
	case tagForm:
		s.endForm()
	case tagP:
		if s.find(buttonScope, tagP) < 0 {
			s.implied(tagP)
		}
		s.close(buttonScope, tagP)
	case tagLi:
		s.close(listScope, tagLi)
	case tagH1, tagH2, tagH3, tagH4, tagH5, tagH6:
		if i := s.findAny(defaultScope, isHeading); i >= 0 {
			s.popTo(i)
		}
	case tagA, tagB, tagBig, tagCode, tagEm, tagFont, tagI, tagNobr, tagS, tagSmall, tagStrike, tagStrong, tagTt, tagU:
		s.endFormatting(t.tag)
	case tagApplet, tagMarquee, tagObject:
		if s.close(defaultScope, t.tag) {
			s.clearActive()
		}
	case tagBr:
		t.kind, t.own = startToken, 0
		return false
	case tagTemplate:
		s.endTemplate()
	default:
		s.endOther()
	}
	return true
}

func (s *scanner) endForm() {
	if s.contains(tagTemplate) {
		s.close(defaultScope, tagForm)
		return
	}
	form := s.form
	s.form = 0
	i := s.find(defaultScope, tagForm)
	if form == 0 || i < 0 || s.open[i].id != form {
		return
	}
	s.imply(tagOther)
	s.remove(i)
}

// endOther handles the end tag of an element without a rule of its own.
func (s *scanner) endOther() {
	for i := len(s.open) - 1; i >= 0; i-- {
		e := &s.open[i]
		if e.tag == s.tok.tag && e.space == htmlSpace && (e.tag != tagOther || s.sameOther(e)) {
			s.popTo(i)
			return
		}
		if e.special() {
			return
		}
	}
}

// sameOther reports whether two elements without a tag of their own have the same
// name.
func (s *scanner) sameOther(e *openElement) bool {
	a, b := s.otherName(e), s.name(&s.tok)
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] && (a[i]|0x20 != b[i]|0x20 || !isLetter(a[i])) {
			return false
		}
	}
	return true
}
