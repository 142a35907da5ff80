package page

import "strings"

// nameBits is a set of kinds of names that authors of pages give to elements: a bit
// for each line of nameWords.
type nameBits uint32

// nameWords lists words in classes, IDs and roles by their meaning. Only their
// first eight letters count.
const nameWords = `nav nav navi navbar menu menus navigati topnav subnav megamenu menubar offcanva sidenav mainmenu submenu
header header masthead hdr topbar toolbar siteheader pagehead branding logo brand
footer footer foot colophon bottom contenti footnav footer siteinfo
sidebar sidebar sidebars aside rail side sidecol right left rightcol leftcol compleme secondar tertiary sidebarl sidebarr
comment comment comments disqus respond reply replies commentl discussi feedback commenta commento
related related recommen similar popular trending latest recent also mostread readmore upnext further outbrain taboola suggest suggesti more moreon readnext
teaser teaser teasers card cards tile tiles grid listing feed archive loop thumb thumbnai promobox headline
share share sharing shares social facebook twitter follow addthis whatsapp pinterest sharedad sns socials
ad ad ads advert adverts advertis sponsor sponsore promo promos promotio dfp adslot adbox campaign adsense ban adunit commerci
banner banner banners hero cta donate donation jumbotro offer ticker callout
subscribe newslett subscrib signup register login signin account membersh paywall optin mailchim email
meta meta byline author authors date time timestam publishe posted dateline credit credits postmeta bio profile info postinfo entrymet pubdate writer
tags tags tag category categori topics topic keywords labels label taxonomy cat cats
breadcrumb breadcru crumb crumbs path
pager paginati pager pagenavi next prev previous pages pagenav
cookie cookie cookies consent gdpr modal popup overlay dialog lightbox notice alert toast notifica tooltip drawer alertdia privacy
search search form filter filters field input select dropdown contact searchfo option
caption caption figcapti imagecap captions copyrigh
media figure gallery slidesho slider carousel swiper slick video player image images photo photos embed media audio img pic
widget widget widgets module modules portlet plugin sidebox
block block blocks panel box boxes container wrapper wrap row col column columns inner section grid
article article articles story entry single hentry newsarti blogpost blog news articlei postcont artikel articulo
post post posts
body body text richtext rte prose markdown copy articleb fulltext bodytext wysiwyg textbody paragrap formatte articlet storybod posttext maintext texte texto
content content contents maincont contenid inhalt contenu conteudo contenid entrycon
main main primary center middle maincolu
title title titles headline heading subtitle hed titulo titre
summary summary excerpt lead intro abstract dek standfir lede descript subhead chapo teaserte
hidden print noprint hidden hide mobile screen sr visually collapse skip invisibl assistiv skiplink
toc toc tableofc index outline references reflist footnote footnot infobox navbox catlinks editsect
list list lists item items li
tools tools tool action actions button buttons btn controls rating ratings vote votes like likes views counter counts stats price cart shop product
`

const nameKinds = 32

type nameSlot struct {
	key  uint64
	bits nameBits
}

var nameSlots, nameKindNames = buildNames(nameWords)

const nameShift = 64 - 10

func buildNames(list string) (slots [1 << (64 - nameShift)]nameSlot, kinds []string) {
	for line := range strings.Lines(list) {
		words := strings.Fields(line)
		bit := nameBits(1) << len(kinds)
		kinds = append(kinds, words[0])
		for _, word := range words[1:] {
			var key uint64
			for i := 0; i < len(word) && i < 8; i++ {
				key = key<<8 | uint64(word[i])
			}
			h := key * tagHash >> nameShift
			for slots[h].key != 0 && slots[h].key != key {
				h = (h + 1) % uint64(len(slots))
			}
			slots[h].key = key
			slots[h].bits |= bit
		}
	}
	if len(kinds) > nameKinds {
		panic("too many kinds")
	}
	return slots, kinds
}

func wordBits(key uint64) nameBits {
	for h := key * tagHash >> nameShift; ; h = (h + 1) % uint64(len(nameSlots)) {
		if e := &nameSlots[h]; e.key == key || e.key == 0 {
			return e.bits
		}
	}
}

// namesOf returns the kinds of the words in a class, ID or role. A word ends at a
// character that is no letter, and before a capital letter that follows a small
// one.
func namesOf(s string) (bits nameBits) {
	var key uint64
	n, small := 0, false
	for i := range len(s) {
		c := s[i]
		l := c | 0x20
		if l-'a' >= 26 {
			if n > 1 {
				bits |= wordBits(key)
			}
			key, n, small = 0, 0, false
			continue
		}
		if c != l {
			if small {
				if n > 1 {
					bits |= wordBits(key)
				}
				key, n = 0, 0
			}
			small = false
		} else {
			small = true
		}
		if n < 8 {
			key = key<<8 | uint64(l)
		}
		n++
	}
	if n > 1 {
		bits |= wordBits(key)
	}
	return bits
}

func namesOfRaw(raw string) nameBits {
	if strings.IndexByte(raw, '&') >= 0 {
		raw = decodeAttribute(raw)
	}
	return namesOf(raw)
}

func roleOf(s string) nameBits {
	if strings.EqualFold(s, "banner") {
		s = "header"
	}
	return namesOf(s)
}

func roleOfRaw(raw string) nameBits {
	if strings.IndexByte(raw, '&') >= 0 {
		raw = decodeAttribute(raw)
	}
	return roleOf(raw)
}

// classHash returns a hash of a class attribute, to compare classes.
func classHash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

func classHashRaw(raw string) uint32 {
	if strings.IndexByte(raw, '&') >= 0 || strings.IndexByte(raw, '\r') >= 0 {
		raw = decodeAttribute(raw)
	}
	return classHash(raw)
}

// Indexes of kinds of names.
const (
	kindComment = 4
	kindMeta    = 11 // by-lines
)
