(* Why soft cuts hold against the engineer: the lemma, the figure, the bound; for anything that people have, for strata, for
   whatever is shown of a release. docs/guarantees.md, "Why soft cuts hold against the engineer", "Sets of values",
   "A person with all her rows". *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra zify.
From Sfumato Require Import exchange coins soft_cuts.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section SoftProof.
Variables (R : realFieldType) (P V E : finType) (event : E -> {set V}) (bound : E -> R).
Variables (candidates : {set P} -> seq {set P}) (coin : nat -> R) (tests : nat) (keep show : R -> R) (strata : seq {set P}).
Hypothesis bound_ge0 : forall e, 0 <= bound e.
Hypothesis coin01 : forall n, 0 <= coin n <= 1.
Hypothesis keep_down : forall T, 0 <= T -> 0 <= keep T <= T.
Hypothesis show_down : forall T, 0 <= T -> 0 <= show T <= T.
Hypothesis strata_apart : pairwise (fun A B : {set P} => [disjoint A & B]) strata.

Notation world := (world P V).
Notation hist := (count_events event).
Notation room := (room show).
Notation fits := (fits bound show).
Notation cap := (cap bound show).
Notation keeps := (keeps bound show).
Notation slack := (slack bound show).
Notation before_test := (before_test bound coin tests keep show).
Notation chance := (chance event bound candidates coin tests keep show).
Notation finals := (finals candidates coin keep).
Notation run_chance := (run_chance event bound candidates coin tests keep show).
Notation run_finals := (run_finals candidates coin keep).
Notation release := (release candidates coin keep show strata).
Notation weight := (weight event bound candidates coin tests keep show strata).
Notation weight_shown := (weight_shown event bound candidates coin tests keep show strata).
Implicit Types (w : world) (t u : P) (B L : {set P}) (e : E) (T : R).

(** What an exchange does to histograms and to slack. *)
Lemma hist_exchange B t u w : (t \in B) = (u \in B) -> hist B (exchange t u w) = hist B w.
Proof. by move=> same; apply/ffunP=> e; rewrite !ffunE count_exchange. Qed.

Lemma eq_hist B w w' : {in B, w =1 w'} -> hist B w = hist B w'.
Proof. by move=> same; apply/ffunP=> e; rewrite !ffunE (eq_count _ same). Qed.

(* s, a least difference, moves by at most one. *)
Lemma slack_moves h L w t u left right T :
  `|slack h (hist L w) left right T - slack h (hist L (exchange t u w)) left right T| <= 1.
Proof.
apply: min_moves => -[e side] _ /=; rewrite !ffunE.
by have := count_moves L (event e) w t u; case: side; lia.
Qed.

(** The chance of a transcript looks at people of the box only, and is a chance. *)
Lemma eq_chance tau w w' B T made cs : {in B, w =1 w'} -> chance w tau B T made cs = chance w' tau B T made cs.
Proof.
elim: tau B T made cs => [|r IH|a IHa b IHb|a IHa b IHb|r IH] B T made [|L cs] //= same;
  have inL : {in B :&: L, w =1 w'} by move=> p /setIP[/same].
all: have inR : {in B :\: L, w =1 w'} by move=> p /setDP[/same].
all: rewrite (eq_hist same) ?(eq_hist inL) ?(IH B) ?(IHa (B :&: L)) ?(IHb (B :\: L)) //.
Qed.

Lemma chance_ge0 tau w B T made cs : 0 <= chance w tau B T made cs.
Proof.
elim: tau B T made cs => [|r IH|a IHa b IHb|a IHa b IHb|r IH] B T made [|L cs] /=; rewrite ?ler01 ?lexx //;
  case: before_test; rewrite ?lexx // ?mulr_ge0 ?subr_ge0 ?refusal_le1 ?refusal_ge0 //.
Qed.

Lemma finals_sub tau B T cs B' T' : (B', T') \in finals tau B T cs -> B' \subset B.
Proof.
elim: tau B T cs => [|r IH|a IHa b IHb|a IHa b IHb|r IH] B T [|L cs] //=; rewrite ?inE.
1,2: by case/eqP=> ->.
1,4: exact: IH.
all: by rewrite mem_cat => /orP[/IHa|/IHb] /subset_trans; apply; rewrite ?subsetIl ?subsetDl.
Qed.

Lemma coin_ge0 n : 0 <= coin n.
Proof. by case/andP: (coin01 n). Qed.

Lemma keep_ge0 T : 0 <= T -> 0 <= keep T.
Proof. by case/keep_down/andP. Qed.

Lemma finals_ge0 tau B T cs B' T' : 0 <= T -> (B', T') \in finals tau B T cs -> 0 <= T'.
Proof.
elim: tau B T cs => [|r IH|a IHa b IHb|a IHa b IHb|r IH] B T [|L cs] //= T0; rewrite ?inE.
1,2: by case/eqP=> _ ->.
1: exact: IH.
1,2: by rewrite mem_cat => /orP[/IHa|/IHb]; apply.
by apply: IH; apply: keep_ge0; rewrite mulr_ge0 ?coin_ge0 ?ler01.
Qed.

(** **Lemma.** Exchanging two people of a final box leaves at least its account of a transcript's chance. *)
Let chance_sides w one two L B T := chance w one (B :&: L) T 0 (candidates (B :&: L))
                         * chance w two (B :\: L) T 0 (candidates (B :\: L)).

Lemma exchange_sides w t u one two L B T B' T' :
  (forall B made cs, (B', T') \in finals one B T cs ->
     T' * chance w one B T made cs <= T * chance (exchange t u w) one B T made cs) ->
  (forall B made cs, (B', T') \in finals two B T cs ->
     T' * chance w two B T made cs <= T * chance (exchange t u w) two B T made cs) ->
  t \in B' -> u \in B' ->
  (B', T') \in finals one (B :&: L) T (candidates (B :&: L)) ++ finals two (B :\: L) T (candidates (B :\: L)) ->
  [/\ hist B (exchange t u w) = hist B w, hist (B :&: L) (exchange t u w) = hist (B :&: L) w &
      T' * chance_sides w one two L B T <= T * chance_sides (exchange t u w) one two L B T].
Proof.
move=> IH1 IH2 tB' uB'; rewrite mem_cat => /orP[] final; have /subsetP sub := finals_sub final;
  have := sub _ tB'; have := sub _ uB'; rewrite !inE => /andP[u1 u2] /andP[t1 t2].
- split; [by rewrite hist_exchange ?t1 ?u1|by rewrite hist_exchange // !inE t1 t2 u1 u2|].
  rewrite /chance_sides (@eq_chance two (exchange t u w) w); last by apply: exchange_out; rewrite !inE ?t2 ?u2.
  by rewrite !mulrA ler_wpmul2r ?chance_ge0 // IH1.
- split; [by rewrite hist_exchange ?t2 ?u2|by rewrite hist_exchange // !inE (negPf t1) (negPf u1) !andbF|].
  rewrite /chance_sides (@eq_chance one (exchange t u w) w); last first.
    by apply: exchange_out; rewrite !inE ?t1 ?u1 ?(negPf t1) ?(negPf u1) andbF.
  by rewrite !(mulrCA _ (chance w one _ _ _ _)) ler_wpmul2l ?chance_ge0 // IH2.
Qed.

Lemma exchange_chance tau w t u B T made cs B' T' : 0 <= T -> (B', T') \in finals tau B T cs -> t \in B' -> u \in B' ->
  T' * chance w tau B T made cs <= T * chance (exchange t u w) tau B T made cs.
Proof.
move=> T0 final tB' uB'; elim: tau B T made cs T0 final => [|r IH|a IHa b IHb|a IHa b IHb|r IH] B T made [|L cs] //= T0;
  rewrite ?mulr0 // => final.
- by move: final; rewrite inE => /eqP[_ ->].
- have /subsetP sub := finals_sub final; rewrite hist_exchange ?sub //.
  by case: before_test; rewrite ?mulr0 //; exact: IH.
- have [||-> _ sides] := exchange_sides (w := w) (t := t) (u := u) _ _ tB' uB' final.
  + by move=> *; exact: IHa.
  + by move=> *; exact: IHb.
  by case: before_test; rewrite ?mulr0.
- have [||-> -> sides] := exchange_sides (w := w) (t := t) (u := u) _ _ tB' uB' final.
  + by move=> *; exact: IHa.
  + by move=> *; exact: IHb.
  case: before_test; rewrite ?mulr0 // !(mulrCA _ (1 - _)) ler_wpmul2l // subr_ge0 refusal_le1 //.
- have /subsetP sub := finals_sub final; rewrite (@hist_exchange B) ?sub //.
  case: before_test; rewrite ?mulr0 //; have q01 := coin01 #|B|; have /andP[q0 _] := q01.
  have /andP[K0 K] := keep_down (mulr_ge0 T0 q0).
  set s := slack _ _ _ _ _; set s' := slack _ (hist _ (exchange t u w)) _ _ _.
  have moves : coin #|B| * refusal (coin #|B|) s <= refusal (coin #|B|) s' by apply: refusal_moves => //; exact: slack_moves.
  rewrite mulrCA; apply: (le_trans (ler_wpmul2l (refusal_ge0 q01 s) (IH _ _ _ _ K0 final))).
  have c'0 := chance_ge0 r (exchange t u w) B (keep (T * coin #|B|)) made.+1 cs.
  rewrite !mulrA; apply: ler_wpmul2r => //; apply: le_trans (ler_wpmul2l T0 moves).
  by rewrite mulrA [in X in X <= _]mulrC; apply: ler_wpmul2r; rewrite ?refusal_ge0.
Qed.

(** Every box keeps its caps at every moment. *)
Lemma room_ge0 n T : 0 <= T -> 0 <= room n T.
Proof. by move=> /show_down/andP[T0 _]; rewrite /room addr_ge0 ?ler01 ?mulr_ge0 ?ler0n. Qed.

Lemma fits_le c c' e n T : (c <= c')%N -> fits c' e n T -> fits c e n T.
Proof. by move=> le /orP[|fit]; rewrite /fits; [move->|rewrite (le_trans _ fit) ?orbT // ler_nat]. Qed.

Lemma fits_size c e n n' T : 0 <= T -> (n <= n')%N -> fits c e n T -> fits c e n' T.
Proof.
move=> /show_down/andP[T0 _] le /orP[|fit]; rewrite /fits; first by move->.
rewrite (le_trans fit) ?orbT // ler_wpmul2l // ler_add2l ler_wpmul2r // ler_nat; lia.
Qed.

Lemma fits_cap e c n T : 0 <= T -> fits (cap e c n T) e n T.
Proof.
move=> T0; rewrite /cap; pose A := [pred k : 'I_c.+1 | fits k e n T].
have some : (0 < #|A|)%N by apply/card_gt0P; exists ord0; rewrite inE /fits mulr_ge0 ?orbT ?room_ge0.
by have [k fit ->] := eq_bigmax_cond (fun k : 'I_c.+1 => nat_of_ord k) some.
Qed.

Lemma count_sides B L S w : (count (B :&: L) S w + count (B :\: L) S w = count B S w)%N.
Proof.
by rewrite /count -(cardsID L [set u in B | w u \in S]); congr (_ + _)%N; apply: eq_card => u;
  rewrite !inE; case: (u \in B); case: (u \in L); case: (_ \in S).
Qed.

Lemma safe_keeps w B L T : 0 <= T -> keeps (hist B w) (minn #|B :&: L| #|B :\: L|) T ->
  keeps (hist (B :&: L) w) #|B :&: L| T /\ keeps (hist (B :\: L) w) #|B :\: L| T.
Proof.
move=> T0 /forallP keep_all; split; apply/forallP=> e; have := keep_all e; rewrite !ffunE => fit;
  have := count_sides B L (event e) w => sum; apply: fits_le (fits_size T0 _ fit); rewrite ?geq_minl ?geq_minr //; lia.
Qed.

Lemma passed_keeps w B L T : 0 <= T -> 0 <= slack (hist B w) (hist (B :&: L) w) #|B :&: L| #|B :\: L| T ->
  keeps (hist (B :&: L) w) #|B :&: L| T /\ keeps (hist (B :\: L) w) #|B :\: L| T.
Proof.
move=> T0; rewrite /slack => free.
pose n side := if side then #|B :&: L| else #|B :\: L|.
have low e side (over : (cap e (hist B w e) (n side) T < hist B w e)%N) :=
  le_trans free (min_le _ _ (mem_index_enum (e, side)) over).
split; apply/forallP=> e; have sum := count_sides B L (event e) w.
- have [over|le] := ltnP (cap e (hist B w e) #|B :&: L| T) (hist B w e).
    by apply: fits_le (fits_cap e (hist B w e) _ T0); have := low e true over; rewrite /= !ffunE; lia.
  by apply: fits_le (fits_le le (fits_cap e _ _ T0)); rewrite !ffunE; lia.
- have [over|le] := ltnP (cap e (hist B w e) #|B :\: L| T) (hist B w e).
    by apply: fits_le (fits_cap e (hist B w e) _ T0); have := low e false over; rewrite /= !ffunE; lia.
  by apply: fits_le (fits_le le (fits_cap e _ _ T0)); rewrite !ffunE; lia.
Qed.

Lemma finals_keep tau w B T made cs B' T' : 0 <= T -> keeps (hist B w) #|B| T -> chance w tau B T made cs != 0 ->
  (B', T') \in finals tau B T cs -> keeps (hist B' w) #|B'| T'.
Proof.
elim: tau B T made cs => [|r IH|a IHa b IHb|a IHa b IHb|r IH] B T made [|L cs] //= T0 now; rewrite ?eqxx //.
- by rewrite inE => _ /eqP[-> ->].
- by case: before_test; rewrite ?eqxx //; exact: IH.
- rewrite /before_test; case: ifP => [safe|_]; last by case: ifP; rewrite eqxx.
  have [nowL nowR] := safe_keeps T0 safe; rewrite mulf_eq0 negb_or mem_cat => /andP[ca cb].
  by case/orP; [exact: IHa ca|exact: IHb cb].
- case: before_test; rewrite ?eqxx // !mulf_eq0 !negb_or mem_cat subr_eq0 => /and3P[passes ca cb].
  have [|nowL nowR] := @passed_keeps w B L T T0; first by move: passes; case: slack => // n; rewrite /= eqxx.
  by case/orP; [exact: IHa ca|exact: IHb cb].
- rewrite /before_test; case: ifP => _; rewrite ?eqxx //; case: ifP; rewrite ?eqxx // cardsID.
  move=> /negbT; rewrite !negb_or !negbK => /and3P[_ affordable _].
  rewrite mulf_eq0 negb_or => /andP[_]; apply: IH => //.
  by have /andP[q0 _] := coin01 #|B|; case/andP: (keep_down (mulr_ge0 T0 q0)).
Qed.

(* Another final box contains both or neither of two people of one. *)
Lemma finals_both tau B T cs t u B1 T1 B2 T2 : (B1, T1) \in finals tau B T cs -> (B2, T2) \in finals tau B T cs ->
  t \in B1 -> u \in B1 -> (t \in B2) = (u \in B2).
Proof.
move=> one two t1 u1; elim: tau B T cs one two => [|r IH|a IHa b IHb|a IHa b IHb|r IH] B T [|L cs] //=; try exact: IH.
1,2: by rewrite !inE => /eqP[<- _] /eqP[-> _]; rewrite t1 u1.
all: rewrite !mem_cat => /orP[] one /orP[] two; [exact: IHa one two| | |exact: IHb one two].
all: have /subsetP sub1 := finals_sub one; have /subsetP sub2 := finals_sub two.
all: have out p : p \in B1 -> (p \in B2) = false
  by move=> /sub1 in1; apply/negP=> /sub2; move: in1; rewrite !inE; case: (p \in L); rewrite ?andbF.
all: by rewrite !out.
Qed.

(* Everybody of the box is in a final one. *)
Lemma finals_cover tau w B T made cs t : chance w tau B T made cs != 0 -> t \in B ->
  exists B' T', (B', T') \in finals tau B T cs /\ t \in B'.
Proof.
elim: tau B T made cs => [|r IH|a IHa b IHb|a IHa b IHb|r IH] B T made [|L cs] //=; rewrite ?eqxx //.
- by move=> _ tB; exists B, T; rewrite inE eqxx.
- by case: before_test; rewrite ?eqxx //; exact: IH.
1,2: case: before_test; rewrite ?eqxx // ?mulf_eq0 ?negb_or => c0 tB; have {c0} [ca cb] : 
  chance w a (B :&: L) T 0 (candidates (B :&: L)) != 0 /\ chance w b (B :\: L) T 0 (candidates (B :\: L)) != 0
  by [case/andP: c0|case/and3P: c0].
1,2: have [tL|tL] := boolP (t \in L).
1,3: have [|B' [T' [final tB']]] := IHa _ _ _ _ ca; [by rewrite inE tB|by exists B', T'; rewrite mem_cat final].
1,2: have [|B' [T' [final tB']]] := IHb _ _ _ _ cb; [by rewrite inE tB tL|by exists B', T'; rewrite mem_cat final orbT].
by case: before_test; rewrite ?eqxx // mulf_eq0 negb_or => /andP[_]; exact: IH.
Qed.

(** The same for runs over strata. *)
Lemma run_chance_ge0 w run boxes : 0 <= run_chance w run boxes.
Proof. by elim: run boxes => [|tau run IH] [|B boxes] //=; rewrite ?ler01 ?mulr_ge0 ?chance_ge0. Qed.

Lemma eq_run_chance w w' run boxes : (forall B, B \in boxes -> {in B, w =1 w'}) -> run_chance w run boxes = run_chance w' run boxes.
Proof.
elim: run boxes => [|tau run IH] [|B boxes] //= same; rewrite (eq_chance _ _ _ _ (same B (mem_head _ _))) IH //.
by move=> C mem; apply: same; rewrite inE mem orbT.
Qed.

Lemma run_finals_sub run boxes B T : (B, T) \in run_finals run boxes -> exists2 C, C \in boxes & B \subset C.
Proof.
elim: run boxes => [|tau run IH] [|C boxes] //=; rewrite mem_cat => /orP[/finals_sub sub|/IH[D mem sub]].
  by exists C; rewrite ?mem_head.
by exists D; rewrite // inE mem orbT.
Qed.

Lemma run_finals_ge0 run boxes B T : (B, T) \in run_finals run boxes -> 0 <= T.
Proof. by elim: run boxes => [|tau run IH] [|C boxes] //=; rewrite mem_cat => /orP[/(finals_ge0 ler01)|/IH]. Qed.

Lemma apart_out C boxes : pairwise (fun A B : {set P} => [disjoint A & B]) (C :: boxes) ->
  forall D p, D \in boxes -> p \in C -> p \notin D.
Proof. by rewrite pairwise_cons => /andP[/allP all _] D p /all /disjointFr disj /disj->. Qed.

Lemma one_stratum boxes C D p : pairwise (fun A B : {set P} => [disjoint A & B]) boxes ->
  C \in boxes -> D \in boxes -> p \in C -> p \in D -> C = D.
Proof.
elim: boxes => //= A boxes IH apart; have out := apart_out apart; case/andP: apart => _ /IH{}IH.
rewrite !inE => /orP[/eqP->|inC] /orP[/eqP->|inD] // pC pD; last exact: IH.
  by have := out _ _ inD pC; rewrite pD.
by have := out _ _ inC pD; rewrite pC.
Qed.

Lemma run_finals_both run boxes t u B1 T1 B2 T2 : pairwise (fun A B : {set P} => [disjoint A & B]) boxes ->
  (B1, T1) \in run_finals run boxes -> (B2, T2) \in run_finals run boxes ->
  t \in B1 -> u \in B1 -> (t \in B2) = (u \in B2).
Proof.
elim: run boxes => [|tau run IH] [|C boxes] //= apart; rewrite !mem_cat => one two t1 u1.
have out := apart_out apart; case/andP: apart => _ /IH both.
case/orP: one => one; case/orP: two => two; [exact: finals_both one two t1 u1| | |exact: both one two t1 u1].
  have [D mem /subsetP sub2] := run_finals_sub two; have /subsetP sub1 := finals_sub one.
  have no p : p \in B1 -> (p \in B2) = false by move=> /sub1/(out D _ mem)/negP no; apply/negP=> /sub2.
  by rewrite !no.
have [D mem /subsetP sub1] := run_finals_sub one; have /subsetP sub2 := finals_sub two.
have no p : p \in B1 -> (p \in B2) = false by move=> /sub1 pD; apply/negP=> /sub2/(out D _ mem)/negP.
by rewrite !no.
Qed.

Lemma exchange_run run boxes w t u B T : pairwise (fun A B : {set P} => [disjoint A & B]) boxes ->
  (B, T) \in run_finals run boxes -> t \in B -> u \in B -> T * run_chance w run boxes <= run_chance (exchange t u w) run boxes.
Proof.
elim: run boxes => [|tau run IH] [|C boxes] //= apart; rewrite mem_cat => final tB uB.
have out := apart_out apart; case/andP: apart => _ apart.
case/orP: final => final.
- have /subsetP sub := finals_sub final.
  rewrite [X in _ <= _ * X](@eq_run_chance (exchange t u w) w); last first.
    by move=> D mem; apply: exchange_out; apply: out; rewrite ?sub.
  rewrite mulrA ler_wpmul2r ?run_chance_ge0 //; apply: le_trans (exchange_chance w 0 ler01 final tB uB) _.
  by rewrite mul1r.
- have [D mem /subsetP sub] := run_finals_sub final.
  rewrite (@eq_chance tau (exchange t u w) w); last first.
    by apply: exchange_out; apply/negP=> /(out D _ mem)/negP; apply; exact: sub.
  by rewrite mulrCA; apply: ler_wpmul2l; rewrite ?chance_ge0 ?IH.
Qed.

Lemma run_finals_keep run boxes w B T : (forall C, C \in boxes -> keeps (hist C w) #|C| 1) ->
  run_chance w run boxes != 0 -> (B, T) \in run_finals run boxes -> keeps (hist B w) #|B| T.
Proof.
elim: run boxes => [|tau run IH] [|C boxes] //= now; rewrite mulf_eq0 negb_or mem_cat => /andP[c0 r0] /orP[final|].
  by apply: finals_keep c0 final; rewrite ?ler01 ?now ?mem_head.
by apply: IH => // D mem; apply: now; rewrite inE mem orbT.
Qed.

Lemma run_finals_cover run boxes w t C : run_chance w run boxes != 0 -> C \in boxes -> t \in C ->
  exists B T, (B, T) \in run_finals run boxes /\ t \in B.
Proof.
elim: run boxes => [|tau run IH] [|D boxes] //=; rewrite ?eqxx // mulf_eq0 negb_or inE => /andP[c0 r0] /orP[/eqP->|mem] tC.
  by have [B [T [final tB]]] := finals_cover c0 tC; exists B, T; rewrite mem_cat final.
by have [B [T [final tB]]] := IH _ r0 mem tC; exists B, T; rewrite mem_cat final orbT.
Qed.

(** What the engineer believes. *)
Lemma count_values B S w : count B S w = (\sum_(v in S) values B w v)%N.
Proof.
rewrite /count -sum1_card (partition_big (fun u => w u) (mem S)) /=; last by move=> u; rewrite inE => /andP[].
apply: eq_bigr => v vS; rewrite ffunE /count -sum1_card; apply: eq_bigl => u; rewrite !inE.
by case: eqP => [->|_]; rewrite ?vS ?andbT ?andbF.
Qed.

Section Engineer.
Variables (prior : world -> R) (runs : seq (seq transcript)) (r : published R P V).
Variables (B : {set P}) (T : R) (h : {ffun V -> nat}) (t : P).
Hypothesis prior_ge0 : forall w, 0 <= prior w.
Hypothesis shown : (B, T, h) \in r.
Hypothesis tB : t \in B.
Let p := weight prior runs r.

Lemma release_box run w : release run w = r -> exists2 T0, (B, T0) \in run_finals run strata & T = show T0 /\ h = values B w.
Proof. by move=> is_r; move: shown; rewrite -is_r => /mapP[[B0 T0] final [-> -> ->]]; exists T0. Qed.

Lemma release_exchange run w u : u \in B -> release run w = r -> release run (exchange t u w) = r.
Proof.
move=> uB is_r; have [T0 final _] := release_box is_r; rewrite -is_r; apply/eq_in_map => -[B2 T2] final2 /=.
congr (_, _); apply/ffunP=> v; rewrite !ffunE count_exchange //; exact: run_finals_both final final2 tB uB.
Qed.

Lemma weight_ge0 w : 0 <= p w.
Proof. by rewrite mulr_ge0 // sumr_ge0 // => run _; exact: run_chance_ge0. Qed.

Lemma weight_exchange u w : u \in B -> prior (exchange t u w) = prior w -> T * p w <= p (exchange t u w).
Proof.
move=> uB no_link; rewrite /p /weight no_link // mulrCA ler_wpmul2l // mulr_sumr.
rewrite [X in X <= _]big_mkcond [X in _ <= X]big_mkcond /=; apply: ler_sum => run _.
case: eqP => [is_r|_]; last by case: ifP; rewrite ?run_chance_ge0 ?lexx.
rewrite (release_exchange uB is_r) eqxx; have [T0 final [-> _]] := release_box is_r.
have /andP[_ le] := show_down (run_finals_ge0 final).
by apply: le_trans (ler_wpmul2r (run_chance_ge0 _ _ _) le) _; exact: exchange_run final tB uB.
Qed.

Lemma weight_counts w : p w != 0 -> exists run, [/\ release run w = r, run_chance w run strata != 0 & prior w != 0].
Proof.
rewrite mulf_eq0 negb_or => /andP[pw]; rewrite /likelihood psumr_eq0 => [|run _]; last exact: run_chance_ge0.
by rewrite -has_predC => /hasP[run _] /=; rewrite negb_imply => /andP[/eqP is_r c0]; exists run.
Qed.

Lemma weight_account w : p w != 0 -> 0 <= T.
Proof.
by move=> /weight_counts[run [/release_box[T0 final [-> _]] _ _]]; case/andP: (show_down (run_finals_ge0 final)).
Qed.

(** **Theorem, of somebody who knows the people K of the box** (nobody: the theorem of the page). She believes that t has one of S
    with at most (c_B(S) - c_K(S)) / (1 + (n - k - 1)·account(B)). S is any set of what people may have. *)
Theorem figure_known (K : {set P}) (known : world) S : K \subset B -> t \notin K ->
  (forall w, prior w != 0 -> {in K, w =1 known}) ->
  (forall u w, u \in B :\: K -> prior (exchange t u w) = prior w) -> 0 < total p ->
  belief p t S <= (\sum_(v in S) h v - count K S known)%N%:R / (1 + (#|B :\: K|.-1)%:R * T).
Proof.
move=> sub tK knows no_link some; have tBK : t \in B :\: K by rewrite inE tK.
have [w pw] : exists w, p w != 0.
  apply/existsP; apply: contraTT some => /existsPn none.
  by rewrite /total big1 ?ltxx // => w _; apply/eqP; rewrite -[_ == _]negbK.
apply: belief_bound => //; [|by move=> u w' uBK _; apply: weight_exchange; [case/setDP: uBK|exact: no_link]|exact: weight_account pw].
move=> w' /weight_counts[run [/release_box[T1 _ [_ ->]] _ pw']]; rewrite -count_values -(eq_count _ (knows w' pw')).
by rewrite -(count_sides B K S w') (setIidPr sub) addKn.
Qed.

Theorem figure S : (forall u w, u \in B -> prior (exchange t u w) = prior w) -> 0 < total p ->
  belief p t S <= (\sum_(v in S) h v)%:R / (1 + (#|B|.-1)%:R * T).
Proof.
move=> no_link some; have [w0 _] : exists w, p w != 0.
  apply/existsP; apply: contraTT some => /existsPn none.
  by rewrite /total big1 ?ltxx // => w _; apply/eqP; rewrite -[_ == _]negbK.
have := @figure_known set0 w0 S (sub0set _); rewrite setD0 inE => /(_ isT) figure0; apply: le_trans (figure0 _ _ some) _ => //.
  by move=> w _ u; rewrite inE.
by rewrite /count (_ : [set u in set0 | w0 u \in S] = set0) ?cards0 ?subn0 //; apply/setP=> u; rewrite !inE.
Qed.

(** ... and that is at most its bound, for every event that has one. *)
Lemma bound_weighed e : (forall u w, u \in B -> prior (exchange t u w) = prior w) ->
  (forall w C, prior w != 0 -> C \in strata -> keeps (hist C w) #|C| 1) -> has p t (event e) <= bound e * total p.
Proof.
move=> no_link feasible; have [none|/existsP[w pw]] := boolP [forall w, p w == 0].
  by rewrite /has /total !big1 ?mulr0 // => w _; apply/eqP; exact: (forallP none).
have [run [is_r c0 pr]] := weight_counts pw; have [T0 final [shows counts]] := release_box is_r.
have /forallP/(_ e) : keeps (hist B w) #|B| T0 by apply: run_finals_keep c0 final => C; exact: feasible.
case/orP=> [/eqP->|].
  by rewrite mul1r -(has_total p t) has_le ?subsetT // => w'; exact: weight_ge0.
rewrite ffunE count_values -counts => fit.
have T0_ge0 := run_finals_ge0 final; have /andP[s0 _] := show_down T0_ge0.
have room_gt0 : 0 < room #|B| T0 by apply: ltr_spaddl; rewrite ?ltr01 ?mulr_ge0 ?ler0n.
rewrite -(ler_pmul2r room_gt0) mulrAC.
have total0 : 0 <= total p by apply: sumr_ge0 => w' _; exact: weight_ge0.
apply: le_trans (ler_wpmul2r total0 fit); rewrite /room -shows; apply: exchange_bound => //.
  by move=> w' /weight_counts[run' [/release_box[T1 _ [_ ->]] _ _]]; rewrite count_values.
by move=> u w' uB _; apply: weight_exchange => //; exact: no_link.
Qed.

Theorem bound_kept e : (forall u w, u \in B -> prior (exchange t u w) = prior w) ->
  (forall w C, prior w != 0 -> C \in strata -> keeps (hist C w) #|C| 1) -> 0 < total p -> belief p t (event e) <= bound e.
Proof. by move=> no_link feasible some; apply: belief_bounded => //; exact: bound_weighed. Qed.

End Engineer.

(** What is hidden: whatever function of a release is shown, the bound stays; and the figure of whatever the shown fixes. *)
Section Shown.
Variables (Z : eqType) (view : published R P V -> Z) (prior : world -> R) (runs : seq (seq transcript)) (z : Z) (t : P).
Hypothesis prior_ge0 : forall w, 0 <= prior w.
Let p := weight_shown view prior runs z.
Let releases := undup [seq release run w | run <- runs, w <- enum {: world}].

Lemma shown_mixture w : p w = \sum_(r <- [seq r <- releases | view r == z]) weight prior runs r w.
Proof.
rewrite /p /weight_shown -mulr_sumr; congr (_ * _); rewrite /likelihood.
rewrite (exchange_big_dep xpredT) //= [LHS]big_mkcond /= !big_seq; apply: eq_bigr => run mem.
have here : release run w \in releases by rewrite mem_undup; apply/allpairsP; exists (run, w); rewrite /= mem_enum.
case: ifP => seen.
  rewrite big_mkcond /= (bigD1_seq (release run w)) ?filter_uniq ?undup_uniq ?mem_filter ?seen //= eqxx.
  by rewrite big1 ?addr0 // => r /negPf; rewrite eq_sym => ->.
by rewrite big1_seq // => r /andP[/eqP is_r]; rewrite mem_filter -is_r seen.
Qed.

Lemma shown_bounded S b : (forall r, view r = z -> has (weight prior runs r) t S <= b * total (weight prior runs r)) ->
  has p t S <= b * total p.
Proof.
move=> each; have -> : has p t S = has (fun w => \sum_(r <- [seq r <- releases | view r == z]) weight prior runs r w) t S.
  by apply: eq_bigr => w _; exact: shown_mixture.
have -> : total p = total (fun w => \sum_(r <- [seq r <- releases | view r == z]) weight prior runs r w).
  by apply: eq_bigr => w _; exact: shown_mixture.
rewrite /has /total exchange_big [X in _ <= b * X]exchange_big mulr_sumr /= !big_filter; apply: ler_sum => r /eqP; exact: each.
Qed.

Theorem shown_figure B T (S : {set V}) c : 0 <= T -> t \in B -> 0 < total p ->
  (forall u w, u \in B -> prior (exchange t u w) = prior w) ->
  (forall r, view r = z -> exists2 h, (B, T, h) \in r & \sum_(v in S) h v = c)%N ->
  belief p t S <= c%:R / (1 + (#|B|.-1)%:R * T).
Proof.
move=> T0 tB some no_link fixed; apply: belief_bounded => //.
have room_gt0 : 0 < 1 + (#|B|.-1)%:R * T by apply: ltr_spaddl; rewrite ?ltr01 ?mulr_ge0 ?ler0n.
apply: shown_bounded => r /fixed[h mem <-]; rewrite mulrAC ler_pdivl_mulr //.
apply: exchange_bound => //; last by move=> u w uB _; apply: (weight_exchange _ prior_ge0 mem tB uB); exact: no_link.
by move=> w /(weight_counts)[run [/(release_box mem)[T1 _ [_ ->]] _ _]]; rewrite count_values.
Qed.

Theorem shown_bound C e : C \in strata -> t \in C -> 0 < total p ->
  (forall u w, u \in C -> prior (exchange t u w) = prior w) ->
  (forall w D, prior w != 0 -> D \in strata -> keeps (hist D w) #|D| 1) -> belief p t (event e) <= bound e.
Proof.
move=> CS tC some no_link feasible; apply: belief_bounded => //; apply: shown_bounded => r _.
have [none|/existsP[w pw]] := boolP [forall w, weight prior runs r w == 0].
  by rewrite /has /total !big1 ?mulr0 // => w _; apply/eqP; exact: (forallP none).
have [run [is_r c0 pr]] := weight_counts pw; have [B [T [final tB]]] := run_finals_cover c0 CS tC.
have mem : (B, show T, values B w) \in r by rewrite -is_r; apply/mapP; exists (B, T).
apply: (bound_weighed _ prior_ge0 mem tB) => // u w' uB; apply: no_link.
by have [D DS /subsetP sub] := run_finals_sub final; rewrite (one_stratum strata_apart CS DS tC (sub _ tB)) sub.
Qed.

End Shown.

End SoftProof.
