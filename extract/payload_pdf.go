package extract

import (
	"neardup/extract/charset"
	"neardup/extract/page"
	"neardup/extract/pdf"
)

// ReadPDF makes the extractor read PDF documents with the engine, within the limits
// of the options. It must be called before the first record.
func (x *Extractor) ReadPDF(e *pdf.Engine) {
	if x.o.PDF.MaxPages > 0 {
		x.Readers[typePDF] = pdfReader{e, x.o.PDF}
	}
}

type pdfReader struct {
	engine *pdf.Engine
	limits pdf.Limits
}

var pdfReasons = map[pdf.Outcome]Reason{
	pdf.Broken:    ReasonPDFBroken,
	pdf.Encrypted: ReasonPDFSecret,
	pdf.NoText:    ReasonPDFImages,
	pdf.Memory:    ReasonPDFMemory,
	pdf.Steps:     ReasonPDFSteps,
	pdf.Crashed:   ReasonPDFCrash,
}

func (r pdfReader) ReadText(b Body) Text {
	limits := r.limits
	if b.MaxSteps > 0 {
		limits.MaxSteps = min(limits.MaxSteps, b.MaxSteps)
	}
	d, outcome, err := r.engine.Read(b.Bytes, limits, b.MaxText)
	if err != nil {
		return Text{Reason: ReasonPanic}
	}
	if outcome != pdf.Read {
		return Text{Reason: pdfReasons[outcome], Steps: d.Steps}
	}
	t := Text{Steps: d.Steps, Title: d.Title, Charset: "utf-8", CharsetFrom: charset.FromUTF8}
	var cut bool
	t.Text, cut = page.PlainText(d.Text, b.MaxText)
	t.Choices.set(ChoiceTextCut, cut || d.Cut)
	t.Choices.set(ChoicePagesLost, d.Unread > 0 || d.Lost > 0)
	return t
}
