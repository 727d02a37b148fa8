"""Types of the native module; the C++ sources are in ``csrc/``."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import LimitError, ModelError
from fastsql.model.schema_inputs import SchemaInputs
from fastsql.model.turns import TurnInputs

__version__: str
compiler: str

def instruction_sets() -> tuple[str, ...]:
    """Kernels that this build and this processor can run, slowest first; the last one is used."""

class _Numbering:
    """How the native core numbers things, as names in order."""

    kinds: tuple[str, ...]
    weight_names: tuple[str, ...]
    pointers: tuple[str, ...]
    effects: tuple[str, ...]
    requirements: tuple[str, ...]
    type_classes: tuple[str, ...]
    candidate_kinds: tuple[str, ...]
    node_kinds: tuple[str, ...]
    symbol_roles: tuple[str, ...]
    production_roles: tuple[str, ...]
    turn_weights: tuple[str, ...]
    entry_weights: tuple[str, ...]
    candidate_features: int
    no_action: int
    program_symbol: int
    """The kind of a token of a program that is no word piece."""
    pointers_of: dict[str, tuple[str, ...]]
    """Of each kind of action."""

    def nodes(
        self, tokens: int, candidates: int, turns: int, tables: int, columns: int
    ) -> dict[str, tuple[int, int]]:
        """First node and number of nodes of each kind, of the "question" and of the "schema"."""

    def pointed_rows(
        self, tokens: int, candidates: int, turns: int, tables: int, columns: int, values: int
    ) -> dict[str, tuple[int, int]]:
        """First row and number of rows that actions of each kind point at."""

numbering: _Numbering

class RelationAttention:
    """Relation-aware multi-head attention in factored form (RAT-SQL, section 4.2). Thread-safe."""

    def __init__(self, *, threads: int = 1, instruction_set: str | None = None) -> None:
        """Attention on so many threads, with the kernels of one of `instruction_sets()` (by default, the last).

        Raises:
            ModelError: this machine or this build has no such kernels.
        """

    def __call__(
        self,
        query: NDArray[np.float32],
        key: NDArray[np.float32],
        value: NDArray[np.float32],
        relation_key: NDArray[np.float32],
        relation_value: NDArray[np.float32],
        relations: NDArray[np.uint8],
        *,
        second_key: NDArray[np.float32] | None = None,
        second_value: NDArray[np.float32] | None = None,
        scale: float | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Attends without holding the interpreter's lock; the result does not depend on the number of threads.

        Arrays may be views; those whose last axis is not contiguous are copied.

        Args:
            query: float32[heads, rows, head size].
            key: float32[heads, columns, head size].
            value: float32[heads, columns, head size].
            relation_key: float32[relations, head size], shared by the heads; at most 256 relations.
            relation_value: float32[relations, head size].
            relations: uint8[rows, columns], each below the number of relations.
            second_key: float32[heads, more columns, head size]: keys of the last columns of `relations`.
            second_value: float32[heads, more columns, head size].
            scale: of the scores; 1 / sqrt(head size) by default.

        Returns:
            mixed: float32[heads, rows, head size].
            log_sum: float32[heads, rows], the logarithm of the sum of exponentials of a row's scores.

        Raises:
            ModelError: shapes disagree, or a relation is out of range.
            TypeError: an array has another element type.
        """

class Grammar:
    """The compiled action grammar, made once a process."""

    def __init__(self, table: NDArray[np.int32]) -> None:
        """Reads what `fastsql.grammar.tables.grammar_table` writes. Raises ModelError where it is not in order."""

class SchemaItems:
    """What the automaton knows of a schema, made once a schema."""

    def __init__(self, grammar: Grammar, table: NDArray[np.int32]) -> None:
        """Reads what `fastsql.grammar.tables.schema_table` writes. Raises ModelError where it is not in order."""

class ActionSpace:
    """The actions of one question over a schema, numbered as `fastsql.grammar.ActionSpace` numbers them."""

    def __init__(self, schema: SchemaItems, table: NDArray[np.int32]) -> None:
        """Reads what `fastsql.grammar.tables.question_table` writes. Raises ModelError where it is not in order."""

    @property
    def size(self) -> int:
        """Number of flat ids."""

    @property
    def offsets(self) -> tuple[int, ...]:
        """First flat id of each kind of action, and `size`."""

class State:
    """A point in the decoding of one query; never changes. Made by `Automaton.start` and `advance` only."""

    @property
    def finished(self) -> bool:
        """Whether the query is complete."""

    @property
    def symbol(self) -> int:
        """The frontier: the symbol to be expanded next; -1 once finished."""

    @property
    def parent(self) -> int:
        """The production that put the frontier on the stack (the number of productions: none did); -1 once finished."""

    @property
    def used(self) -> int:
        """Actions taken."""

    @property
    def decisions(self) -> int:
        """Actions taken that were not the only legal one."""

    @property
    def cost(self) -> int:
        """Fewest actions that complete the query."""

    def legal(self) -> NDArray[np.int64]:
        """Flat ids of all actions that may come next, ascending; empty once finished."""

    def mask(self) -> NDArray[np.bool_]:
        """Which actions may come next: bool[A]."""

    def advance(self, action: int, *, decision: bool = True) -> State:
        """The state after an action; `decision` is False for an action that was the only legal one.

        Raises:
            IllegalActionError: `legal` does not offer the action.
        """

class Automaton:
    """The grammar's pushdown automaton over one action space: `fastsql.grammar.State`, natively. Thread-safe."""

    def __init__(self, space: ActionSpace) -> None:
        """States that come from it share its memory, and keep it."""

    def start(self) -> State:
        """The state before the first action."""

    def sample(self, preference: NDArray[np.float32], seed: int) -> tuple[NDArray[np.int32], bool]:
        """A query at random: each decision is the legal action whose preference plus standard Gumbel noise is largest.

        Args:
            preference: float32[A], what is added to the noise.
            seed: 64 bits; the same one gives the same query.

        Returns:
            path: int32[n], all actions as `fastsql.grammar.read_path` reads them.
            finished: False where it ran into a dead end, which the automaton promises never to happen.

        Raises:
            ModelError: the preferences are not as many as the actions.
        """

    def replay(
        self, decisions: NDArray[np.int32]
    ) -> tuple[NDArray[np.int16], NDArray[np.int16], NDArray[np.uint64], int, bool]:
        """What a sequence of D decisions passes through; forced actions are filled in, those after the last decision, too.

        Runs without holding the interpreter's lock.

        Returns:
            symbols: int16[D], the frontier before each decision.
            parents: int16[D], the production that put it there.
            legal: uint64[D, words], what was legal then: action A is bit A % 64 of word A // 64.
            used: actions taken.
            finished: whether the query is complete.

        Raises:
            IllegalActionError: a decision is not legal where it stands, or comes after the end.
        """

class ValueIndex:
    """Known values by the sequence of their words, read from the arrays of `fastsql.linking.value_table`. Thread-safe."""

    def __init__(self, body: NDArray[np.uint8], bounds: Sequence[int], checksums: NDArray[np.uint32]) -> None:
        """Keeps the arrays, which must not change.

        Args:
            body: uint8[bytes], the sections one behind the other.
            bounds: where each section begins and where the last ends.
            checksums: uint32[blocks], the CRC-32 of each 4,096 bytes of `body`, compared when a block is first read; empty
                where `body` is to be trusted.

        Raises:
            ModelError: the sections cannot be those of a table.
        """

    def hits(self, key: bytes) -> list[tuple[int, int, list[int]]]:
        """Runs of words ``[begin, end)`` that are values, with the numbers of the values; by begin, then the longest first.

        `key` is the question's words as `value_table.key_of` writes them.

        Raises:
            ModelError: what was read is damaged.
        """

class GramIndex:
    """Values by the letters that they have in common with a text, read from the arrays of `fastsql.linking.gram_table`.

    Thread-safe.
    """

    def __init__(
        self,
        values: ValueIndex,
        body: NDArray[np.uint8],
        bounds: Sequence[int],
        checksums: NDArray[np.uint32],
    ) -> None:
        """Keeps the arrays, as `ValueIndex` does, and `values`, whose grams they are.

        Raises:
            ModelError: the sections cannot be those of a table.
        """

    def propose(self, texts: Sequence[Sequence[str]], allowed: Sequence[int]) -> list[int]:
        """Numbers of the values that have most in common with rows of words, best first.

        `allowed` says of each set of columns whether its values count.

        Raises:
            ModelError: what was read is damaged.
        """

    def said(
        self,
        words: Sequence[str],
        idle: Sequence[int],
        settled: Sequence[tuple[int, int]],
        allowed: Sequence[int],
    ) -> list[tuple[float, int, int, int]]:
        """Distance, first and last word (exclusive) and number of each value with a place; see `near.NearIndex.said`.

        `idle` has a mark for each word.

        Raises:
            ModelError: what was read is damaged.
        """

def half_letters(one: Sequence[str], other: Sequence[str], per_edit: int) -> int:
    """What it costs to get from one sequence of words to the other; see `fastsql.linking.nearness.half_letters`."""

class SchemaLinks:
    """Builds the relations of questions over one schema. Thread-safe. Made by `fastsql.linking.native_links`."""

    def __init__(
        self,
        grams: tuple[NDArray[np.int32], NDArray[np.int32]],
        parts: tuple[NDArray[np.int32], NDArray[np.int32]],
        wholes: tuple[NDArray[np.int32], NDArray[np.int32]],
        numbers: dict[str, int],
        within: NDArray[np.uint8],
        table_of: NDArray[np.int32],
        fits: NDArray[np.uint8],
    ) -> None:
        """Copies what it is given.

        Args:
            grams: word numbers of each n-gram of the names: where each begins and the last ends, and the numbers.
            parts: tables and columns that each gram is part of a name of, in the same form.
            wholes: those that it is a whole name of.
            numbers: of the relations, by name.
            within: uint8[T + C, T + C], the relations within the schema.
            table_of: int32[C], the table of each column.
            fits: uint8[kinds, C], whether a column's type fits a kind of candidate.

        Raises:
            ModelError: shapes disagree, or something refers to what is not there.
        """

    def relations(
        self,
        words: Sequence[int],
        word_spans: Sequence[int],
        shortened: Sequence[int],
        offsets: NDArray[np.int32],
        spans: Sequence[int],
        kinds: Sequence[int],
        held: Sequence[Sequence[int]],
    ) -> NDArray[np.uint8]:
        """uint8[N, N], as `fastsql.linking.relations.SchemaLinks.relations`.

        Args:
            words: number of each of W words, -1 for one of no name.
            word_spans: first and last character (exclusive) of each word, 2 W numbers.
            shortened: triples of first word, last word (exclusive) and the number of the word that abbreviates them.
            offsets: int32[Q, 2], characters of the tokens, ascending.
            spans: characters of each of V candidates, 2 V numbers.
            kinds: row of `fits` of each candidate, -1 for none.
            held: columns that hold each candidate's value.

        Raises:
            ModelError: lengths disagree, or something refers to what is not there.
        """

class SchemaState:
    """What an engine knows of a schema: T tables, C columns, W values. Immutable. Made by `Engine.encode_schema`."""

    @property
    def n_tables(self) -> int:
        """T."""

    @property
    def n_columns(self) -> int:
        """C."""

    @property
    def n_values(self) -> int:
        """W, schema values and named constants."""

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""

class Reading:
    """A question behind the encoder and the graph of an engine, whose memory it holds. Immutable. Made by `Engine.read`."""

class Engine:
    """Encoder, graph, decoder and search of one model: `fastsql.model.Model` and `fastsql.decode`, natively.

    Thread-safe. Its methods run without holding the interpreter's lock. What they give depends neither on the number
    of threads nor on what else is being computed.
    """

    def __init__(
        self,
        sizes: dict[str, Any],
        weights: dict[str, NDArray[Any]],
        cls: int,
        sep: int,
        threads: int,
    ) -> None:
        """Copies the weights.

        Args:
            sizes: what `ModelConfig.to_dict` gives.
            weights: every weight as it is stored: float32, or int8 with "<name>.scale" beside it. Without those of an
                encoder, the states of every text have to be given.
            cls: the id that stands before a text.
            sep: the id that stands after it.
            threads: that work on one question.

        Raises:
            ModelError: a weight is missing or of another form.
        """

    def encode_texts(self, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        """Ids int32[texts, tokens], with [CLS] and [SEP], to states float32[texts, tokens, hidden].

        Raises:
            ModelError: an id is not in the vocabulary, or there are more tokens than positions.
        """

    def encode_schema(
        self,
        inputs: SchemaInputs,
        text_means: NDArray[np.float32] | None = None,
        value_means: NDArray[np.float32] | None = None,
    ) -> SchemaState:
        """See `fastsql.model.Model.encode_schema`.

        `text_means` and `value_means`, float32[texts, hidden] through all groups, are another encoder's of the texts;
        the engine's own is asked by default.

        Raises:
            ModelError: there is no table, arrays do not fit together, or an index is out of range.
        """

    def graph_rows(
        self,
        schema: SchemaState,
        token_ids: NDArray[np.int32],
        inside: NDArray[np.float32],
        features: NDArray[np.int64],
        relations: NDArray[np.uint8],
        turns: TurnInputs | None,
        token_states: NDArray[np.float32] | None = None,
    ) -> NDArray[np.float32]:
        """The graph's final rows of a question, float32[N, d]: tokens, candidates, turns, tables, columns.

        Arguments and errors are those of `read`.
        """

    def read(
        self,
        schema: SchemaState,
        token_ids: NDArray[np.int32],
        inside: NDArray[np.float32],
        features: NDArray[np.int64],
        relations: NDArray[np.uint8],
        turns: TurnInputs | None,
        token_states: NDArray[np.float32] | None = None,
    ) -> Reading:
        """A linked question of Q tokens, V candidates and K earlier turns through encoder and graph; N = Q + V + K + T + C.

        Args:
            schema: of this engine.
            token_ids: int32[Q], without [CLS] and [SEP].
            inside: float32[V, Q], from `fastsql.linking.relations.span_weights`.
            features: int64[V, 4], from `fastsql.model.config.features_of`.
            relations: uint8[N, N].
            turns: the earlier turns of a conversation, if the model has weights for them.
            token_states: float32[Q, hidden], what another encoder made of the tokens; the engine's own is asked by default.

        Raises:
            ModelError: shapes disagree, an index is out of range, or the parts are not of the same question and schema.
        """

    def search(
        self, reading: Reading, space: ActionSpace, beam: int, patience: float = 0.0
    ) -> tuple[
        list[tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]],
        float,
        int,
        NDArray[np.float32],
        NDArray[np.float32],
        tuple[float, float, float],
    ]:
        """The likeliest queries for a question that this engine has read, as often as is asked.

        Args:
            reading: of the question.
            space: the actions of this question.
            beam: hypotheses that are followed.
            patience: nats that a hypothesis may be less likely than the best and still be waited for.

        Returns:
            finished: best first, actions int32[n], their log-probabilities float32[n], the path int32[m], which has forced
                actions, too, and float32[n]: log-probability of all that might be decided at each.
            unfinished: log-probability of the best hypothesis that was left unfinished.
            steps: of the decoder.
            state: float32[d], the mean of the tokens' final rows; zeros where there is no token.
            pooled: float32[d], the mean of their first rows, likewise.
            milliseconds: of encoder and graph, as they were when it was read, and of this search.

        Raises:
            ModelError: the space is of another question or schema.
            LimitError: a query would have more decisions than the model was made for.
        """

def gpus() -> tuple[list[tuple[str, int, int, int, int]], str]:
    """The GPUs that CUDA sees, in its order, and why kernels cannot run on the first; "" where they can.

    Each is its name, its compute capability (two numbers), its multiprocessors, and bytes of its memory. This and the
    classes that begin with "Cuda" are there only where the module was built with CUDA.
    """

class CudaSchemaState:
    """What a `CudaEngine` knows of a schema: T tables, C columns, W values. Immutable. Made by its `encode_schema`."""

    @property
    def n_tables(self) -> int:
        """T."""

    @property
    def n_columns(self) -> int:
        """C."""

    @property
    def n_values(self) -> int:
        """W, schema values and named constants."""

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays in the GPU's memory."""

class CudaEngine:
    """`Engine` on the first GPU, for models with heads of 32 or 64.

    Thread-safe. Its methods run without holding the interpreter's lock. What a question gets does not depend on its batch.
    """

    def __init__(
        self,
        sizes: dict[str, Any],
        weights: dict[str, NDArray[Any]],
        cls: int,
        sep: int,
        threads: int,
    ) -> None:
        """Copies the weights to the GPU. Arguments are those of `Engine`; `threads` of the processor read a schema.

        Raises:
            ModelError: there is no GPU that the kernels run on, a weight is missing or of another form, or the model is one
                that they do not take.
            LimitError: the GPU has no memory for the weights.
        """

    def encode_schema(
        self,
        inputs: SchemaInputs,
        text_means: NDArray[np.float32] | None = None,
        value_means: NDArray[np.float32] | None = None,
    ) -> CudaSchemaState:
        """See `Engine.encode_schema`. The processor reads the schema, once.

        Raises:
            ModelError: there is no table, arrays do not fit together, or an index is out of range.
            LimitError: the GPU has no memory for it.
        """

    def parse(
        self,
        schema: CudaSchemaState,
        questions: Sequence[
            tuple[
                ActionSpace,
                NDArray[np.int32],
                NDArray[np.float32],
                NDArray[np.int64],
                NDArray[np.uint8],
                TurnInputs | None,
            ]
        ],
        beam: int,
        states: int | None = None,
    ) -> list[
        tuple[
            list[tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32]]],
            float,
            int,
            NDArray[np.float32],
            NDArray[np.float32],
            tuple[float, float, float],
        ]
        | ModelError
        | LimitError
    ]:
        """The likeliest queries for each of several linked questions, in one go.

        Args:
            schema: of this engine.
            questions: of each the space, and token_ids, inside, features, relations and turns as `Engine.read` takes them.
            beam: hypotheses that are followed, from 1 to 64.
            states: address on the GPU of float32[tokens, hidden], another encoder's of all texts with [CLS] and [SEP],
                one after another, complete before the call; the core's own encoder is asked by default.

        Returns:
            For each question what `Engine.search` gives, the milliseconds being the whole batch's on the GPU; or the error
            of a question that failed in the search, which is not raised.

        Raises:
            ModelError: shapes disagree, an index is out of range, or the parts are not of the same question and schema.
            LimitError: the GPU has no memory for so many questions.
        """

class CudaRelationAttention:
    """`RelationAttention` over bfloat16 tensors that another library keeps on the GPU; benchmarks compare it with theirs.

    Nothing checks the addresses.
    """

    def __init__(
        self,
        query: int,
        key: int,
        value: int,
        relation_key: int,
        relation_value: int,
        relations: int,
        mixed: int,
        *,
        batch: int,
        heads: int,
        rows: int,
        head_size: int,
        relation_count: int,
    ) -> None:
        """Keeps the addresses of tensors in the GPU's memory.

        Args:
            query: bfloat16[batch, heads, rows, head size]; so are `key`, `value` and the output `mixed`.
            key: see `query`.
            value: see `query`.
            relation_key: bfloat16[relation count, head size].
            relation_value: bfloat16[relation count, head size].
            relations: uint8[batch, rows, rows].
            mixed: where the output is written.
            batch: questions.
            heads: of each.
            rows: of each, and columns.
            head_size: 32 or 64.
            relation_count: at most 64.
        """

    def run(self, stream: int) -> None:
        """Queues one launch on a stream, given by its address; does not wait.

        Raises:
            ModelError: the sizes are not those that the kernel takes.
        """

class Decoder:
    """The action decoder on its own, over graph rows that were made elsewhere; tests and benchmarks need it. Thread-safe."""

    def __init__(self, sizes: dict[str, Any], weights: dict[str, NDArray[Any]]) -> None:
        """`sizes` as `ModelConfig.to_dict` gives them, weights as `weights.safetensors` stores them.

        Raises:
            ModelError: a weight is missing, or of another shape or element type.
        """

    def search(
        self,
        space: ActionSpace,
        question: NDArray[np.float32],
        items: NDArray[np.float32],
        values: NDArray[np.float32],
        entries: NDArray[np.float32],
        *,
        beam: int = 4,
        threads: int = 1,
    ) -> tuple[list[tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32]]], float, int]:
        """The likeliest queries for the graph's final rows of a question; see `fastsql.decode.beam_search`.

        Args:
            space: the actions of the question.
            question: float32[Q + V + K, d], tokens, candidates and earlier turns.
            items: float32[T + C, d], tables and columns.
            values: float32[W, d], schema values.
            entries: float32[E, d], what the turns offer.
            beam: hypotheses that are followed.
            threads: that share the work of a step; the result does not depend on them.

        Returns:
            finished: best first, actions int32[n], their log-probabilities float32[n], path int32[m] with forced actions,
                float32[n], log-probability of all that might be decided at each.
            unfinished: log-probability of the best hypothesis that was left unfinished.
            steps: of the decoder.

        Raises:
            ModelError: the rows or the space are not this decoder's.
            LimitError: a query would have more decisions than the model was made for.
        """

class RerankerNetwork:
    """Whether a program is what a question asks for; see `fastsql.reranker.network`. Thread-safe."""

    def __init__(self, sizes: dict[str, Any], weights: dict[str, NDArray[Any]], threads: int) -> None:
        """`sizes` as `RerankerConfig.to_dict` gives them, and `max_tokens` of a row; weights as they are stored.

        Raises:
            ModelError: a size cannot be; or a weight is missing, or of another shape or element type.
        """

    def log_odds(
        self,
        ids: NDArray[np.int32],
        kinds: NDArray[np.int32],
        tables: NDArray[np.int32],
        shared: NDArray[np.int32],
        lengths: NDArray[np.int32],
    ) -> NDArray[np.float64]:
        """Gives the log-odds of B rows, each a question with a program, without the interpreter's lock.

        A row's number depends neither on the others nor on the number of threads.

        Args:
            ids: int32[tokens], the rows' tokens one behind the other.
            kinds: int32[tokens].
            tables: int32[tokens].
            shared: int32[tokens], 1 for pieces that the question and the program have.
            lengths: int32[B], how many tokens each row has.

        Returns:
            float64[B].

        Raises:
            ModelError: a number is out of range, or lengths disagree.
            LimitError: a row is longer than `max_tokens`.
        """

class ReverseNetwork:
    """How likely a question is where a program is meant; see `fastsql.reverse.network`. Thread-safe."""

    def __init__(self, sizes: dict[str, Any], weights: dict[str, NDArray[Any]], threads: int) -> None:
        """`sizes` as `ReverseConfig.to_dict` gives them, and `max_tokens` of a text; weights as they are stored.

        Raises:
            ModelError: a size cannot be; or a weight is missing, or of another shape or element type.
        """

    def log_probability(
        self,
        ids: NDArray[np.int32],
        kinds: NDArray[np.int32],
        tables: NDArray[np.int32],
        lengths: NDArray[np.int32],
        pieces: NDArray[np.int32],
    ) -> NDArray[np.float64]:
        """Gives log P(question | program) for B programs and one question, without the interpreter's lock.

        A program's number depends neither on the others nor on the number of threads.

        Args:
            ids: int32[tokens], the programs' tokens one behind the other.
            kinds: int32[tokens].
            tables: int32[tokens].
            lengths: int32[B], how many tokens each program has.
            pieces: int32[T], the question with its end.

        Returns:
            float64[B].

        Raises:
            ModelError: a number is out of range, nothing is asked, or lengths disagree.
            LimitError: a program or the question is longer than `max_tokens`.
        """
