package page

import (
	"strings"
	"testing"
)

// Pages of a reference differ in a declaration that does not look like content, and
// have a licence in common that does. Such a page keeps all of its text.
func TestLicenceIsUncertain(t *testing.T) {
	page := func(name string) string {
		return `<title>Global ` + name + `</title><table><tr><td align="center"><a href="/">Home</a></td><td align="center"><a href="/l">Libraries</a></td></tr></table>
<div class="refentry"><div class="refnamediv"><h2><span>Global ` + name + `</span></h2><p>tide::` + name + `</p></div>
<h2>Synopsis</h2><div class="refsynopsisdiv"><pre class="synopsis"><span class="comment">// In header: &lt;<a class="link" href="h">tide/` + name + `.hpp</a>&gt;

</span><span class="emphasis"><em><span>unspecified</span></em></span> ` + name + `<span class="special">(</span>station_view, hours_type const &amp;, tables_type &amp;&amp;) <span>const noexcept;</span></pre></div></div>
<table width="100%"><tr><td align="left"></td><td align="right"><div class="copyright-footer">Copyright © 2006-2012 Merian V. Tide, Ilya Sandbank,
 Felipe Harbour, Jeff Seal, Boris Ebb<br>Copyright © 2016 Klemens D. Flood<p>Distributed under the Tide Software License, Version 1.0. (See accompanying
 file LICENSE_1_0.txt or copy at http://www.tide.example/LICENSE_1_0.txt)</p></div></td></tr></table>`
	}
	o := options
	o.Clean = CleanMain
	r := NewReader(o)
	one, other := r.Read(page("ebb_tide"), "", 1<<20), r.Read(page("flood_tide"), "", 1<<20)
	main := PartsOf(PartMain)
	if kept := one.Marks.Select(one.Visible, main); kept != other.Marks.Select(other.Visible, main) || !strings.Contains(kept, "Distributed under") {
		t.Errorf("the pages do not test what they should; the main content is\n%s", kept)
	}
	if !one.MainUnsure || !other.MainUnsure || one.Text == other.Text || one.Text != one.Visible {
		t.Errorf("unsure %v and %v:\n%s", one.MainUnsure, other.MainUnsure, one.Text)
	}
}

func TestCertain(t *testing.T) {
	for _, c := range []struct {
		kept, rest int
		in         context
		part       Part
		want       bool
	}{
		{199, 0, 0, PartFrame, false},
		{200, 0, 0, PartFrame, true},
		{200, 49, 0, PartFrame, true},
		{200, 50, 0, PartFrame, false},
		{319, 80, 0, PartFrame, false},
		{320, 4000, 0, PartFrame, true},
		{200, 50, inNav, PartFrame, true},
		{200, 50, inFooter, PartFrame, true},
		{200, 50, inFooter | inMain, PartFrame, false},
		{200, 50, 0, PartTitle, true},
		{200, 50, 0, PartByline, true},
		{200, 50, 0, PartComments, true},
	} {
		all := []measure{{free: c.kept, link: 1000}, {free: c.rest, link: 1000, in: c.in}}
		if got := certain(all, []Part{PartMain, c.part}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
