package distributed_test

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-45b9a24c/pare/distributed"
	"github.com/seed-45b9a24c/pare/distributed/embed"
)

// clustered runs one of three servers, with the ports "client0,route0,client1,…".
func clustered(role, ports, dir string) error {
	var k int
	if _, err := fmt.Sscanf(role, "cluster%d", &k); err != nil {
		return err
	}
	var port [6]int
	for i, text := range strings.Split(ports, ",") {
		if _, err := fmt.Sscan(text, &port[i]); err != nil {
			return err
		}
	}
	o := &server.Options{
		ServerName: role, Host: "127.0.0.1", Port: port[2*k], JetStream: true, StoreDir: filepath.Join(dir, role),
		MaxPayload: embed.MaxPayload, MaxPending: 4 * embed.MaxPayload, NoSigs: true, NoLog: true,
		Cluster: server.ClusterOpts{Name: "three", Host: "127.0.0.1", Port: port[2*k+1]},
	}
	for i := range 3 {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", port[2*i+1])})
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	select {}
}

// freePorts returns ports that are not in use at the moment.
func freePorts(t *testing.T, count int) (ports []int) {
	t.Helper()
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// ready waits until the three servers keep three copies.
func ready(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	var err error
	for last := time.Now().Add(patience); time.Now().Before(last); time.Sleep(100 * time.Millisecond) {
		var nc *nats.Conn
		if nc, err = nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond)); err != nil {
			continue
		}
		js, _ := jetstream.New(nc)
		if _, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "READY", Replicas: 3}); err == nil {
			t.Cleanup(nc.Close)
			return js
		}
		nc.Close()
	}
	t.Fatalf("the servers do not make a cluster: %v", err)
	return nil
}

// TestLeaderOfThreeServersIsKilled kills the leading server with kill -9 in the middle of a selection with three
// copies of everything, and does not restart it. Whatever is lost, even acknowledged messages, must be requested
// and answered again, and the bits must be those of one process.
func TestLeaderOfThreeServersIsKilled(t *testing.T) {
	t.Parallel()
	want, _ := inProcess(t, "lasso")
	ports := freePorts(t, 6)
	s := &stage{t: t, dir: t.TempDir(), kind: "lasso", processes: map[string]*process{}, evaluated: make(chan struct{}, 1000)}
	t.Cleanup(s.end)
	s.url = fmt.Sprintf("nats://127.0.0.1:%d,nats://127.0.0.1:%d,nats://127.0.0.1:%d", ports[0], ports[2], ports[4])
	s.ports = strings.Trim(strings.ReplaceAll(fmt.Sprint(ports), " ", ","), "[]")
	s.start("cluster0", "cluster1", "cluster2")
	js := ready(t, s.url)
	s.start("worker1", "worker2", "coordinator")
	s.evaluation()
	stream, err := js.Stream(t.Context(), "PARE_RESULTS")
	if err != nil {
		t.Fatal(err)
	}
	about := stream.CachedInfo()
	if about.Config.Replicas != 3 || about.Cluster == nil {
		t.Fatalf("%+v", about)
	}
	t.Logf("killed: %s", about.Cluster.Leader)
	s.kill(about.Cluster.Leader)
	if got := s.result(); got != want {
		t.Errorf("%s\nin one process\n%s", got, want)
	}
}

// TestCopiesStayAsManyAsThereAre checks that a connection that does not state a number of copies, for example to
// remove a job, leaves three copies where there are three.
func TestCopiesStayAsManyAsThereAre(t *testing.T) {
	t.Parallel()
	ports := freePorts(t, 6)
	s := &stage{t: t, dir: t.TempDir(), kind: "lasso", processes: map[string]*process{}}
	t.Cleanup(s.end)
	s.url = fmt.Sprintf("nats://127.0.0.1:%d", ports[0])
	s.ports = strings.Trim(strings.ReplaceAll(fmt.Sprint(ports), " ", ","), "[]")
	s.start("cluster0", "cluster1", "cluster2")
	js := ready(t, s.url)
	nc := connect(t, s.url)
	three := options
	three.Replicas = 3
	x, y := problem(60, 10, 0)
	run, err := distributed.Submit(t.Context(), nc, x, y, three)
	if err != nil {
		t.Fatal(err)
	}
	run.Close()
	if err := distributed.Remove(t.Context(), nc, run.ID); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"PARE_TASKS", "PARE_RESULTS", "KV_PARE_JOBS", "OBJ_PARE_DATA"} {
		stream, err := js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if copies := stream.CachedInfo().Config.Replicas; copies != 3 {
			t.Errorf("%s has %d copies", name, copies)
		}
	}
}
