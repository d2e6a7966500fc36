// Package distributed has the inner problems of a selection solved by worker processes, on
// one machine or many, over NATS JetStream.
//
// A fold, or a block of classes in a fold, is a group of lanes (package bilevel): it answers
// requests, in plain data, and its answers depend on the requests it has had before and on
// nothing else. So a group is its log. The coordinator, which searches and refits, appends
// requests to the logs; the worker that has a group reads its log from the beginning and
// publishes an answer to each request. A worker that begins in the middle, since another one
// has died, replays what is answered and goes on: with the same bits.
//
//	stream PARE_TASKS      pare.task.JOB.RECORD.GROUP.N     the N-th request of a group
//	stream PARE_RESULTS    pare.result.JOB.RECORD.GROUP.N   its answer, which acknowledges it
//	bucket PARE_JOBS       JOB                       what lanes are made from (record)
//	objects PARE_DATA      SHA-256                   matrix and target, once for all jobs
//	subjects pare.stored.>                           servers hand over what they have stored
//	subject pare.presence                            workers say that they are alive
//
// RECORD is a hash of the record, so that a late answer to another job that had the id before is no
// answer. A subject of the streams takes one message for ever. So publishing is idempotent: whoever
// asks or answers again is refused by the server, and the first answer stands. Which worker
// has which group every worker works out by itself, from who is alive (assign.go). Where two
// disagree for a moment, both do the work, to the same bits. Nothing depends on a clock but
// how soon a dead worker is replaced, and what was lost is asked for again.
//
// For anything can be lost with a server: the news of a message, and even a message that it has
// acknowledged (of three servers with three copies whose leader is killed, some runs in ten lost an
// answer). So nobody waits for a message without asking again. A coordinator without an answer
// publishes its request again, and looks for the answer in the stream. A worker without a request
// looks for it in the stream, and whether all of its answers are there; if one is not, it begins the
// log anew.
//
// A worker with something amiss, such as a disk that is full, tells the coordinator, and says which jobs it leaves to
// others when it says that it is alive. The coordinator ends where every worker has told of something.
//
// A coordinator may be gone as well, and its job be left. So a worker replays a log only once something in it
// has no answer, and lets lanes go that have not been asked for long.
//
// A coordinator that is started again with the id of its job asks the same requests, which are
// answered already, and goes on where it was.
package distributed
