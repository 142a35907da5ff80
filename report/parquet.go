package report

import (
	"io"
	"neardup/uris"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// parquetRow is a member of a cluster. The first columns have the names and
// meanings of Common Crawl's columnar index, so that the two can be joined. A
// pointer is a column with nulls.
type parquetRow struct {
	SURT             string  `parquet:"url_surtkey"`
	URL              string  `parquet:"url"`
	Host             string  `parquet:"url_host_name,dict"`
	TLD              *string `parquet:"url_host_tld,dict"`
	RegisteredDomain *string `parquet:"url_host_registered_domain,dict"`
	PrivateDomain    *string `parquet:"url_host_private_domain,dict"`
	Protocol         string  `parquet:"url_protocol,dict"`
	Path             string  `parquet:"url_path"`
	Query            *string `parquet:"url_query"`
	FetchTime        *int64  `parquet:"fetch_time,timestamp(millisecond)"`
	FetchStatus      *int16  `parquet:"fetch_status,dict"`
	ContentDigest    string  `parquet:"content_digest"`
	MimeType         *string `parquet:"content_mime_type,dict"`
	MimeDetected     string  `parquet:"content_mime_detected,dict"`
	Charset          string  `parquet:"content_charset,dict"`
	WARC             string  `parquet:"warc_filename,dict"`
	FilePath         string  `parquet:"warc_path,dict"`
	Entry            *string `parquet:"wacz_entry,dict"`
	RecordOffset     int64   `parquet:"warc_record_offset"`
	RecordLength     *int64  `parquet:"warc_record_length"`

	Cluster         string  `parquet:"cluster,dict"`
	Size            int64   `parquet:"cluster_size"`
	Representative  string  `parquet:"representative,dict"`
	RecordID        string  `parquet:"record_id"`
	Relation        string  `parquet:"relation,dict"`
	Resemblance     float64 `parquet:"resemblance"`
	Containment     float64 `parquet:"containment"`
	VerifiedAgainst string  `parquet:"verified_against,dict"`
	RevisitOf       *string `parquet:"revisit_of"`
	PayloadBytes    int64   `parquet:"payload_bytes"`
	TextBytes       int64   `parquet:"text_bytes"`
	Title           *string `parquet:"title"`
	Byline          *string `parquet:"byline"`
	Unsure          bool    `parquet:"main_unsure"`
	EstimatedBy     *string `parquet:"estimated_by,dict"`
}

// chosenRow is a page with the choice for it.
type chosenRow struct {
	parquetRow
	Action          string   `parquet:"action,dict"`
	Reason          string   `parquet:"reason,dict"`
	Kept            *string  `parquet:"kept,dict"`
	KeptResemblance *float64 `parquet:"kept_resemblance"`
	Lost            *int64   `parquet:"lost"`
}

func chosenOf(row parquetRow, c *Chosen) chosenRow {
	out := chosenRow{parquetRow: row, Action: string(c.Action), Reason: string(c.Reason), Kept: present(strings.ToValidUTF8(c.Kept, "\uFFFD"))}
	if c.Resemblance != nil {
		r, lost := c.Resemblance.rounded(), int64(*c.Lost)
		out.KeptResemblance, out.Lost = &r, &lost
	}
	return out
}

// NewParquet returns a writer of one row for each member.
func NewParquet(w io.Writer) Writer {
	return newParquet(w, func(row parquetRow, _ Member) parquetRow { return row })
}

// NewChosenParquet returns a writer that also writes the choice for each member.
func NewChosenParquet(w io.Writer) Writer {
	return newParquet(w, func(row parquetRow, m Member) chosenRow { return chosenOf(row, m.Chosen) })
}

func newParquet[R any](w io.Writer, row func(parquetRow, Member) R) Writer {
	return &parquetWriter[R]{newTableWriter[R](w), row}
}

type parquetWriter[R any] struct {
	*tableWriter[R]
	row func(parquetRow, Member) R
}

func (p *parquetWriter[R]) Write(c Cluster) error {
	for _, m := range c.Members {
		row := parquetOf(c, m)
		size := 2*len(row.URL) + len(row.SURT) + len(row.ContentDigest) + len(row.RecordID) + len(m.Title) + len(m.Byline) + 3*len(c.Representative)
		of := p.row(row, m)
		if err := p.write(&of, size); err != nil {
			return err
		}
	}
	return nil
}

func parquetOf(c Cluster, m Member) parquetRow {
	u := uris.Split(m.URI)
	host := uris.CanonicalHost(u.Host)
	row := parquetRow{
		SURT: uris.SURT(m.URI), URL: m.URI, Host: host, Protocol: strings.ToLower(u.Scheme), Path: u.Path, Query: present(u.Query),
		ContentDigest: strings.TrimPrefix(m.Digest, "sha1:"), MimeDetected: m.MediaType, Charset: m.Charset,
		WARC: m.WARC, FilePath: m.Path, Entry: present(m.Entry), RecordOffset: m.Offset,
		Cluster: c.ID, Size: int64(c.Size), Representative: c.Representative, RecordID: m.RecordID, Relation: string(m.Relation),
		Resemblance: m.Resemblance.rounded(), Containment: m.Containment.rounded(), VerifiedAgainst: m.VerifiedAgainst,
		RevisitOf: present(m.RevisitOf), PayloadBytes: m.Bytes, TextBytes: m.TextBytes,
		Title: present(m.Title), Byline: present(m.Byline), Unsure: m.Unsure, EstimatedBy: present(c.estimatedBy(m)),
	}
	row.TLD, row.RegisteredDomain, row.PrivateDomain = domains(host)
	if !m.TypeSniffed {
		row.MimeType = present(m.MediaType)
	}
	if ms, ok := milliseconds(m.Date); ok {
		row.FetchTime = &ms
	}
	if m.Status > 0 && m.Status < 1<<15 {
		status := int16(m.Status)
		row.FetchStatus = &status
	}
	if m.RecordBytes > 0 {
		row.RecordLength = &m.RecordBytes
	}
	for _, s := range []*string{&row.URL, &row.Path, row.Query, &row.WARC, &row.FilePath, row.Entry, &row.RecordID, &row.ContentDigest, &row.Representative, &row.VerifiedAgainst, row.RevisitOf, row.Title, row.Byline} {
		if s != nil {
			*s = strings.ToValidUTF8(*s, "\uFFFD")
		}
	}
	return row
}

// present returns a pointer to s, or nil if it is empty.
func present(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// domains returns the top-level domain of a host, its domain below a registry's
// suffix, and its domain below any public suffix. It returns none for an IP
// address, and no domains for a host that is itself a suffix.
func domains(host string) (tld, registered, private *string) {
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		return nil, nil, nil
	}
	below := func(suffix string) *string {
		rest, ok := strings.CutSuffix(host, "."+suffix)
		if !ok {
			return nil
		}
		return present(rest[strings.LastIndexByte(rest, '.')+1:] + "." + suffix)
	}
	suffix, icann := publicsuffix.PublicSuffix(host)
	private = below(suffix)
	for !icann && strings.Contains(suffix, ".") { // a private registrar's suffix is itself below a registry's
		_, parent, _ := strings.Cut(suffix, ".")
		suffix, icann = publicsuffix.PublicSuffix(parent)
	}
	return present(host[strings.LastIndexByte(host, '.')+1:]), below(suffix), private
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
