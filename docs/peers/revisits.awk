# A crawl of n revisits (name: of their record ids), of the capture "to", or each of the one before (chain=1).
# capture=1 writes the capture, c, too; text is its text.
function record(type, id, refers, body) { head = "WARC/1.1\r\nWARC-Type: " type "\r\nWARC-Record-ID: <urn:r:" id ">\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Target-URI: http://a.example/" id "\r\n" refers "Content-Type: application/http; msgtype=response\r\nContent-Length: " length(body) "\r\n\r\n"; printf "%s%s\r\n\r\n", head, body }
BEGIN { profile = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n"; http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
  if (capture) record("response", "c", "", http "<p>" text)
  for (i = 1; i <= n; i++) record("revisit", name i, profile "WARC-Refers-To: <urn:r:" (chain && i > 1 ? name (i - 1) : to) ">\r\n", http) }
