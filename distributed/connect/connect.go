// Package connect connects the commands to a NATS server: by address, with credentials and TLS if
// they are given.
package connect

import (
	"cmp"
	"log/slog"
	neturl "net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Flags are the flags of a connection.
type Flags struct {
	Context string `placeholder:"NAME|FILE" help:"Address, credentials and TLS of a nats context."`
	Creds   string `type:"existingfile" placeholder:"FILE" help:"Credentials of a NATS user (a .creds file)."`
	CA      string `name:"tls-ca" type:"existingfile" placeholder:"FILE" help:"Certificates of the authorities that sign the server's certificate."`
	Cert    string `name:"tls-cert" type:"existingfile" placeholder:"FILE" help:"This client's certificate; needs --tls-key."`
	Key     string `name:"tls-key" type:"existingfile" placeholder:"FILE" help:"The key of --tls-cert."`
}

// Connect connects to the server at url; "" means the address of the context, or the default address of NATS. It
// reconnects whenever the connection is lost.
func (f Flags) Connect(url, name string, log *slog.Logger) (*nats.Conn, error) {
	if (f.Cert == "") != (f.Key == "") {
		return nil, outcome.At(outcome.Usage, "tls-cert", "--tls-cert and --tls-key go together")
	}
	options := []nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.Timeout(10 * time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("the server is away", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) { log.Info("the server is back", "url", nc.ConnectedUrlRedacted()) }),
	}
	if f.Context != "" {
		s, err := openContext(f.Context)
		if err != nil {
			return nil, err
		}
		url = cmp.Or(url, s.URL)
		more, err := s.options()
		if err != nil {
			return nil, err
		}
		options = append(options, more...)
	}
	if f.Creds != "" {
		options = append(options, nats.UserCredentials(f.Creds))
	}
	if f.CA != "" {
		options = append(options, nats.RootCAs(f.CA))
	}
	if f.Cert != "" {
		options = append(options, nats.ClientCert(f.Cert, f.Key))
	}
	url = cmp.Or(url, nats.DefaultURL)
	nc, err := nats.Connect(url, options...)
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.IO, Flag: "runner", Message: "no connection to the NATS server " + redacted(url), Err: err}
	}
	return nc, nil
}

// redacted returns a comma-separated list of addresses without their passwords.
func redacted(list string) string {
	all := strings.Split(list, ",")
	for i, one := range all {
		all[i] = "(an address that cannot be read)"
		if u, err := neturl.Parse(one); err == nil {
			all[i] = u.Redacted()
		}
	}
	return strings.Join(all, ",")
}
