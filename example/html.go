package example

import (
	"embed"
	"fmt"
	"html"
	"strings"
)

//go:embed site/*.html
var siteFiles embed.FS

// render puts a body into the template of a host ("library.example").
func render(host, lang, charset, title, body string) string {
	name, _, _ := strings.Cut(host, ".")
	data, err := siteFiles.ReadFile("site/" + name + ".html")
	if err != nil {
		panic("example: no template: " + err.Error())
	}
	dir := "ltr"
	if lang == "ar" {
		dir = "rtl"
	}
	return strings.NewReplacer("{{lang}}", lang, "{{dir}}", dir, "{{charset}}", charset,
		"{{title}}", html.EscapeString(title), "{{body}}", body).Replace(string(data))
}

// plainBody returns the usual markup of an article.
func plainBody(a article) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1>\n<p class=\"date\">%s</p>\n", html.EscapeString(a.title), a.dateLine())
	for i := range a.paras {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(a.paragraph(i)))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// otherBody returns other markup for the same text: other elements, emphasis,
// comments, a hidden remark, line ends and character references in the text.
func otherBody(a article) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<div class=\"t\"><font size=\"+3\">%s</font></div>\n<div><i>%s</i></div>\n", references(a.title), a.dateLine())
	for i, p := range a.paras {
		b.WriteString("<blockquote>")
		for j, s := range p {
			if j > 0 && spaced(a.lang) {
				b.WriteString("\n   ")
			}
			switch j % 3 {
			case 0:
				b.WriteString("<b>" + html.EscapeString(s) + "</b>")
			case 1:
				fmt.Fprintf(&b, "<!-- part %d.%d --><span class=\"s%d\">%s</span>", i, j, j, references(s))
			default:
				b.WriteString(strings.ReplaceAll(html.EscapeString(s), " ", "\n"))
			}
		}
		b.WriteString("</blockquote>\n<script>count(" + fmt.Sprint(i) + ", \"words of a script between two paragraphs\");</script>\n")
	}
	b.WriteString("<div style=\"display:none\">A remark that is hidden at the end of the page.</div>")
	return b.String()
}

// references writes every seventh character as a character reference.
func references(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		n++
		if n%7 == 0 && r != ' ' {
			fmt.Fprintf(&b, "&#x%X;", r)
		} else {
			b.WriteString(html.EscapeString(string(r)))
		}
	}
	return b.String()
}

func linkBody(title string, labels []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1>\n<ul>\n", html.EscapeString(title))
	for i, l := range labels {
		fmt.Fprintf(&b, "<li><a href=\"/item/%d\">%s</a></li>\n", i+1, html.EscapeString(l))
	}
	b.WriteString("</ul>")
	return b.String()
}

// textOf returns the article as plain text.
func textOf(a article) string {
	lines := []string{a.title, a.dateLine()}
	for i := range a.paras {
		lines = append(lines, a.paragraph(i))
	}
	return strings.Join(lines, "\n\n") + "\n"
}
