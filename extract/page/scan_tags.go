package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// tag identifies an element name. The names that the tree construction, unseen or
// blocks refer to have a tag of their own, and so have a few common ones for speed.
type tag uint8

const (
	tagOther tag = iota
	tagA
	tagAddress
	tagAnnotation
	tagAnnotationXML
	tagApplet
	tagArea
	tagArticle
	tagAside
	tagAudio
	tagB
	tagBase
	tagBasefont
	tagBgsound
	tagBig
	tagBlockquote
	tagBody
	tagBr
	tagButton
	tagCanvas
	tagCaption
	tagCenter
	tagCode
	tagCol
	tagColgroup
	tagDatalist
	tagDd
	tagDesc
	tagDetails
	tagDialog
	tagDir
	tagDiv
	tagDl
	tagDt
	tagEm
	tagEmbed
	tagFieldset
	tagFigcaption
	tagFigure
	tagFont
	tagFooter
	tagForeignObject
	tagForm
	tagFrame
	tagFrameset
	tagH1
	tagH2
	tagH3
	tagH4
	tagH5
	tagH6
	tagHead
	tagHeader
	tagHgroup
	tagHr
	tagHtml
	tagI
	tagIframe
	tagImage
	tagImg
	tagInput
	tagKeygen
	tagLabel
	tagLegend
	tagLi
	tagLink
	tagListing
	tagMain
	tagMalignmark
	tagMarquee
	tagMath
	tagMenu
	tagMeta
	tagMeter
	tagMglyph
	tagMi
	tagMn
	tagMo
	tagMs
	tagMtext
	tagNav
	tagNobr
	tagNoembed
	tagNoframes
	tagNoscript
	tagObject
	tagOl
	tagOptgroup
	tagOption
	tagP
	tagParam
	tagPath
	tagPlaintext
	tagPre
	tagProgress
	tagRb
	tagRp
	tagRt
	tagRtc
	tagRuby
	tagS
	tagScript
	tagSearch
	tagSection
	tagSelect
	tagSmall
	tagSource
	tagSpan
	tagStrike
	tagStrong
	tagStyle
	tagSub
	tagSummary
	tagSup
	tagSvg
	tagTable
	tagTbody
	tagTd
	tagTemplate
	tagTextarea
	tagTfoot
	tagTh
	tagThead
	tagTitle
	tagTr
	tagTrack
	tagTt
	tagU
	tagUl
	tagVar
	tagVideo
	tagWbr
	tagXmp
	tagCount
)

// tagNames are the names, in the order of the constants.
var tagNames = strings.Fields(`-
	a address annotation annotation-xml applet area article aside audio b base basefont bgsound big blockquote body br
	button canvas caption center code col colgroup datalist dd desc details dialog dir div dl dt em embed
	fieldset figcaption figure font footer foreignobject form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup
	hr html i iframe image img input keygen label legend li link listing main malignmark marquee math menu meta
	meter mglyph mi mn mo ms mtext nav nobr noembed noframes noscript object ol optgroup option p param path plaintext
	pre progress rb rp rt rtc ruby s script search section select small source span strike strong style sub summary sup
	svg table tbody td template textarea tfoot th thead title tr track tt u ul var video wbr xmp`)

// rule is a set of bits: what an element means for the tree and for the text. The
// lists are those of golang.org/x/net/html.
type rule uint32

const (
	isSpecial   rule = 1 << iota // "special" in the standard: it ends the search of some end tags
	isBlock                      // starts and ends a line
	isImplied                    // its end tag is implied by others
	isHeading                    // h1 to h6, which close each other
	isTablePart                  // text directly inside it goes before the table
	isTableBody                  // a group of rows
	isRaw                        // after its start tag, everything up to its end tag is text
	isVoid                       // has no end tag
	isBreakout                   // it ends a drawing or formula that contains it
	isPassed                     // it does not end the search for an open list item
	stopsScope                   // it ends the default scope, and those of buttons and lists
	stopsList
	stopsButton
	stopsTable
	stopsMath // it ends the default scope, as an element of MathML
	stopsSVG
)

var rules = buildRules()

func buildRules() (r [tagCount]rule) {
	for _, of := range []struct {
		rule  rule
		names string
	}{
		{isSpecial, `address applet area article aside base basefont bgsound blockquote body br button caption center col
			colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6
			head header hgroup hr html iframe img input keygen li link listing main marquee menu meta nav noembed noframes
			noscript object ol p param plaintext pre script section select source style summary table tbody td template
			textarea tfoot th thead title tr track ul wbr xmp`},
		{isImplied, "dd dt li optgroup option p rb rp rt rtc"},
		{isHeading, "h1 h2 h3 h4 h5 h6"},
		{isTablePart, "table tbody tfoot thead tr"},
		{isTableBody, "tbody tfoot thead"},
		{isRaw, "iframe noembed noframes noscript plaintext script style textarea title xmp"},
		{isVoid, "area base br col embed hr img input link meta param source track wbr"},
		{isBreakout, `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing
			menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var`},
		{isPassed, "address div p"},
		{stopsScope, "applet caption html table td th marquee object template select"},
		{stopsList, "ol ul"},
		{stopsButton, "button"},
		{stopsTable, "html table template"},
		{stopsMath, "annotation-xml mi mn mo ms mtext"},
		{stopsSVG, "desc foreignobject title"},
	} {
		for name := range strings.FieldsSeq(of.names) {
			r[lookupTag(name)] |= of.rule
		}
	}
	for t := tagOther + 1; t < tagCount; t++ {
		if blocks[atom.Lookup([]byte(tagNames[t]))] {
			r[t] |= isBlock
		}
	}
	return r
}

// tagStates are the states of elements by name alone.
var tagStates = buildTagStates()

func buildTagStates() (is [tagCount]state) {
	for t := tagOther + 1; t < tagCount; t++ {
		a := atom.Lookup([]byte(tagNames[t]))
		is[t] = state(contexts[a]) << contextShift
		if unseen[a] {
			is[t] |= hides
		}
		if preserves[a] {
			is[t] |= preserved
		}
	}
	return is
}

// A name of up to eight bytes is looked up as a number, in a hash table with linear
// probing. The few longer names are in a map.
const (
	tagHash  = 0x9e3779b97f4a7c15
	tagShift = 64 - 9
)

type tagSlot struct {
	key uint64
	tag tag
}

var tagSlots, longTags = buildTags()

func buildTags() (slots [1 << (64 - tagShift)]tagSlot, long map[string]tag) {
	long = map[string]tag{}
	for t := tagOther + 1; t < tagCount; t++ {
		name := tagNames[t]
		if len(name) > 8 {
			long[name] = t
			continue
		}
		var key uint64
		for _, c := range []byte(name) {
			key = key<<8 | uint64(c)
		}
		h := key * tagHash >> tagShift
		for slots[h].key != 0 {
			h = (h + 1) % uint64(len(slots))
		}
		slots[h] = tagSlot{key, t}
	}
	return slots, long
}

// shortTag returns the tag of a name of at most eight bytes in lower case. The last
// byte of the name is the lowest of key.
func shortTag(key uint64) tag {
	for h := key * tagHash >> tagShift; ; h = (h + 1) % uint64(len(tagSlots)) {
		if e := &tagSlots[h]; e.key == key || e.key == 0 {
			return e.tag
		}
	}
}

// lookupTag returns the tag of a name in any case.
func lookupTag(name string) tag {
	if len(name) > 16 {
		return tagOther
	}
	var lower [16]byte
	var key uint64
	for i := range len(name) {
		c := name[i]
		if c-'A' < 26 {
			c += 'a' - 'A'
		}
		lower[i] = c
		key = key<<8 | uint64(c)
	}
	if len(name) > 8 {
		return longTags[string(lower[:len(name)])]
	}
	return shortTag(key)
}
