package example

// spec is one line of the crawl's plan.
type spec struct {
	kind   string
	topic  string // main text, "language/topic"
	host   string // for texts of their own; a variant has its original's host
	source string // topic from which a contains or quote page takes text
	how    string // words: chunked gzip wget resource bom, a charset
}

// The first crawl: texts of their own. Together they use every form of record that
// the example has.
var firstCrawl = []spec{
	{KindOriginal, "en/library", "library", "", ""},
	{KindTemplate, "en/puppets", "library", "", "chunked"},
	{KindOriginal, "en/engine", "railway", "", ""},
	{KindOriginal, "en/signalbox", "railway", "", "gzip"},
	{KindTemplate, "en/carriages", "railway", "", ""},
	{KindOriginal, "de/schmalspur", "railway", "", ""},
	{KindOriginal, "en/install", "manual", "", "chunked"},
	{KindOriginal, "en/backup", "manual", "", ""},
	{KindTemplate, "en/printing", "manual", "", "resource"},
	{KindOriginal, "ko/update", "manual", "", ""},
	{KindOriginal, "ko/screen", "manual", "", "chunked gzip"},
	{KindTemplate, "ko/keyboard", "manual", "", "bom"},
	{KindOriginal, "de/brot", "bakery", "", ""},
	{KindTemplate, "de/backhaus", "bakery", "", ""},
	{KindOriginal, "fr/croissant", "bakery", "", ""},
	{KindOriginal, "de/huette", "mountain", "", ""},
	{KindTemplate, "de/lawine", "mountain", "", "gzip"},
	{KindOriginal, "fr/meteo", "mountain", "", "iso-8859-1"},
	{KindOriginal, "fr/glacier", "mountain", "", ""},
	{KindOriginal, "ru/tournament", "chess", "", "windows-1251"},
	{KindOriginal, "ru/school", "chess", "", ""},
	{KindTemplate, "ru/archive", "chess", "", ""},
	{KindOriginal, "el/island", "chess", "", ""},
	{KindOriginal, "el/clocks", "chess", "", "chunked"},
	{KindTemplate, "el/cafe", "chess", "", ""},
	{KindOriginal, "zh/dumpling", "recipes", "", ""},
	{KindOriginal, "zh/tea", "recipes", "", "gbk"},
	{KindTemplate, "zh/tofu", "recipes", "", ""},
	{KindOriginal, "ja/miso", "recipes", "", "gzip"},
	{KindOriginal, "ja/mochi", "recipes", "", ""},
	{KindTemplate, "ja/pickles", "recipes", "", ""},
	{KindOriginal, "ar/dates", "garden", "", ""},
	{KindOriginal, "ar/roses", "garden", "", "wget"},
	{KindTemplate, "ar/water", "garden", "", ""},
	{KindOriginal, "hi/mango", "garden", "", ""},
	{KindOriginal, "hi/herbs", "garden", "", "chunked gzip"},
	{KindOriginal, "hi/compost", "garden", "", ""},
}

// The second crawl, half a year later: variants of the texts above, and pages
// that quote them.
var secondCrawl = []spec{
	{KindRecapture, "en/library", "", "", ""},
	{KindRecapture, "en/install", "", "", ""},
	{KindRecapture, "zh/dumpling", "", "", ""},
	{KindRecapture, "ar/dates", "", "", "gzip"},
	{KindRecapture, "ru/tournament", "", "", "windows-1251"},

	{KindMarkup, "en/engine", "", "", ""},
	{KindMarkup, "de/brot", "", "", ""},
	{KindMarkup, "ja/miso", "", "", ""},
	{KindMarkup, "ko/update", "", "", "chunked"},
	{KindMarkup, "hi/mango", "", "", ""},

	{KindMirror, "en/signalbox", "", "", ""},
	{KindMirror, "fr/meteo", "", "", ""},
	{KindMirror, "zh/tea", "", "", ""},
	{KindMirror, "hi/mango", "", "", "gzip"},
	{KindMirror, "el/island", "", "", ""},
	{KindMirror, "ru/school", "", "", "bom"},

	{KindLight, "en/library", "", "", ""},
	{KindLight, "en/backup", "", "", "chunked"},
	{KindLight, "de/huette", "", "", ""},
	{KindLight, "fr/croissant", "", "", ""},
	{KindLight, "ar/roses", "", "", "wget"},
	{KindLight, "ru/school", "", "", ""},
	{KindLight, "ko/screen", "", "", ""},
	{KindLight, "ja/mochi", "", "", ""},

	{KindHeavy, "en/signalbox", "", "", ""},
	{KindHeavy, "fr/glacier", "", "", ""},
	{KindHeavy, "de/schmalspur", "", "", ""},
	{KindHeavy, "zh/tea", "", "", ""},
	{KindHeavy, "hi/herbs", "", "", "resource"},
	{KindHeavy, "el/clocks", "", "", ""},

	{KindMoved, "en/install", "", "", ""},
	{KindMoved, "ar/dates", "", "", ""},
	{KindMoved, "hi/compost", "", "", ""},
	{KindMoved, "ja/mochi", "", "", ""},

	{KindContains, "en/festival", "news", "en/backup", ""},
	{KindContains, "de/glas", "news", "de/huette", ""},
	{KindContains, "zh/kite", "news", "zh/dumpling", ""},

	{KindQuote, "en/market", "news", "en/library", ""},
	{KindQuote, "fr/horloger", "news", "fr/croissant", ""},
	{KindQuote, "ru/lake", "news", "ru/tournament", ""},

	{KindConversion, "fr/meteo", "", "", ""},
	{KindConversion, "ko/screen", "", "", ""},
}

// The hosts, in order. Each has a navigation page, except the last two.
var hosts = []string{"library", "railway", "manual", "bakery", "mountain", "chess", "recipes", "garden", "copies", "news"}

var navigation = []struct{ host, lang, title string }{
	{"library", "en", "All pages"},
	{"railway", "en", "Site map"},
	{"manual", "en", "Index of sections"},
	{"bakery", "de", "Übersicht"},
	{"mountain", "fr", "Plan du site"},
	{"chess", "ru", "Все материалы"},
	{"recipes", "zh", "全部菜谱"},
	{"garden", "ar", "جميع المقالات"},
}

// Very short pages, without the template of their host. The first two show the
// same text.
var short = []struct{ host, path, lang, html, group string }{
	{"library", "/closed.html", "en", "<html><body><p>This part of the site rests until the autumn. Please ring the bell at the side door.</p></body></html>", "short notice"},
	{"news", "/closed", "en", "<!DOCTYPE html>\n<title>Closed</title>\n<div>This part of the site rests\nuntil the autumn. Please ring the <em>bell</em> at the side door.</div>", "short notice"},
	{"bakery", "/ferien.html", "de", "<html><body><h3>Unsere Backstube macht bis Ende Juli Betriebsferien.</h3></body></html>", ""},
	{"recipes", "/kyuka.html", "ja", "<html><head><meta charset=\"utf-8\"></head><body>来週の月曜日は臨時にお休みをいただきます。</body></html>", ""},
	{"mountain", "/webcam.html", "fr", "<html><body><p>La caméra du sommet est couverte de givre.</p></body></html>", ""},
}

// variant returns the article of a topic, edited according to the kind.
func variant(s spec) article {
	a := compose(s.topic)
	switch s.kind {
	case KindLight:
		if random(s.kind+s.topic).IntN(2) == 0 {
			return lightTypos(a)
		}
		return lightSentences(a)
	case KindHeavy:
		return heavy(a)
	case KindMoved:
		return moved(a)
	case KindContains:
		return withAll(a, compose(s.source))
	case KindQuote:
		return withParagraph(a, compose(s.source))
	}
	return a
}
