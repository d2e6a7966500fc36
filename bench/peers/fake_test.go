package peers

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// fake is the environment variable that makes this test program act as a peer.
const fake = "PERF_FAKE_PEER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(fake); kind != "" {
		fakePeer(kind)
		return
	}
	os.Exit(m.Run())
}

// fakePeer answers every request with an answer of the given kind, mostly β = 0 and a false
// claim.
func fakePeer(kind string) {
	fmt.Println("fake 1.0")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch kind {
		case "braggart": // reports a gap of 0 for β = 0
			fmt.Println(`{"seconds": 1e-9, "objective": null, "gap": 0, "index": [], "value": []}`)
		case "liar": // reports the objective of another problem
			fmt.Println(`{"seconds": 1e-9, "objective": 0.25, "gap": null, "index": [], "value": []}`)
		case "nan":
			fmt.Println(`{"seconds": 1e-9, "objective": null, "gap": null, "index": [0], "value": [1e308]}`)
		case "stranger": // names a column that does not exist
			fmt.Println(`{"seconds": 1e-9, "objective": null, "gap": null, "index": [999], "value": [1]}`)
		case "babbler":
			fmt.Println(`hello`)
		case "clockless":
			fmt.Println(`{"seconds": 0, "index": [], "value": []}`)
		case "sleeper":
			time.Sleep(time.Hour)
		case "dead":
			fmt.Fprintln(os.Stderr, "out of luck")
			os.Exit(1)
		case "honest":
			fmt.Printf("{\"seconds\": 0.5, \"objective\": null, \"gap\": null, %s}\n", os.Getenv("PERF_FAKE_ANSWER"))
		}
	}
}

// needProcesses skips the test if this program cannot start itself through env.
func needProcesses(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("env"); err != nil {
		t.Skip("needs the program env")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(program, "-test.run=^$").Run(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("an emulated program cannot start another; the native run counts")
	}
}

func fakeOf(t *testing.T, kind string) Peer {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Peer{
		Name: kind, Models: []Model{Lasso}, Tolerances: func(target float64) []float64 { return ladder(target, 2, 2) },
		command: func(string, string, *Problem) (*exec.Cmd, error) {
			return exec.Command("env", fake+"="+kind, program), nil
		},
	}
}
