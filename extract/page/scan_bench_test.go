package page

import (
	"fmt"
	"strings"
	"testing"
)

// articlePage is a page as content management systems write them: the text is
// a seventh of it.
func articlePage(paragraphs int) string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html>
<html lang="en" class="no-js">
<head>
<meta charset="utf-8">
<title>An article &#8211; The Site</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/assets/site.css?v=12" media="all">
<style>body{margin:0}.nav>li{display:inline-block}.hide{display:none}</style>
<script>(function(d){var s=d.createElement("script");s.src="/a.js";if(1<2){d.head.appendChild(s)}})(document)</script>
</head>
<body class="post-template single single-post">
<!-- [if lt IE 9]><p class="old">You use an old browser.</p><![endif] -->
<header id="top" role="banner"><div class="wrap"><a class="logo" href="/" title="Home > start"><img src="/l.png" alt="Logo" width="120" height="40"></a>
<nav class="menu-main-container" aria-label="Main"><ul id="menu" class="nav">
`)
	for i := range 24 {
		fmt.Fprintf(&b, `	<li id="menu-item-%d" class="menu-item menu-item-type-post_type menu-item-object-page menu-item-%d"><a href="https://www.example.org/section/%d/" itemprop="url"><span class="label">Section %d</span></a></li>
`, i, i, i, i)
	}
	b.WriteString("</ul></nav></div></header>\n<main><article class=\"hentry\"><h1 class=\"entry-title\">An article</h1>\n")
	for i := range paragraphs {
		fmt.Fprintf(&b, `<p class="text" style="color:#333;font-family:serif">The <a href="https://www.example.org/wiki/topic_%d?ref=inline" rel="nofollow noopener" target="_blank">topic %d</a> was first described &mdash; and <em>then</em> forgotten &ndash; in the year&nbsp;%d; “nobody” knows caf&eacute;s like it.</p>
`, i, i, 1800+i)
		if i%5 == 4 {
			fmt.Fprintf(&b, `<figure class="wp-block-image size-large"><img loading="lazy" decoding="async" width="1024" height="683" src="https://cdn.example.org/i/%d-1024.jpg" srcset="https://cdn.example.org/i/%d-1024.jpg 1024w, https://cdn.example.org/i/%d-300.jpg 300w" sizes="(max-width: 1024px) 100vw, 1024px" alt=""><figcaption>Figure %d</figcaption></figure>
<table class="data"><tbody><tr><th>Year</th><td>%d</td></tr><tr><th>Place</th><td>Town %d</td></tr></tbody></table>
<div class="share" hidden><ul><li><svg viewBox="0 0 24 24"><path d="M12 2L2 7l10 5 10-5-10-5z"/></svg><span>Share</span></li></ul></div>
<script type="application/ld+json">{"@context":"https://schema.org","@type":"ImageObject","url":"https://cdn.example.org/i/%d-1024.jpg","width":1024,"height":683}</script>
`, i, i, i, i, 1800+i, i, i)
		}
	}
	b.WriteString(`</article><aside><form action="/search"><input type="search" name="q"><select name="s"><option>All<option>News</select><button>Go</button></form></aside></main>
<footer><p>&copy; 2020 The Site</p></footer><script src="/b.js"></script></body></html>
`)
	return b.String()
}

func benchmarkText(b *testing.B, read func(page string)) {
	for _, size := range []int{10, 100, 1000} {
		page := articlePage(size)
		b.Run(fmt.Sprintf("%dKB", len(page)>>10), func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			b.ReportAllocs()
			for b.Loop() {
				read(page)
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	benchmarkText(b, func(page string) {
		if _, ok := scanText(page, 1<<20, true); !ok {
			b.Fatal("left to the parser")
		}
	})
}

func BenchmarkTree(b *testing.B) {
	benchmarkText(b, func(page string) { treeText(page, 1<<20, true) })
}
