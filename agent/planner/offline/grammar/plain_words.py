"""The words of every day for what rules know by one word: verbs that begin an order, what is said before and behind one, adjectives, nouns.

A table maps a word of ours to what people say for it, parted by " / "; `plainly` says where each may stand.
"""

from __future__ import annotations

# Before an order: they ask for it, and say nothing of it.
OPENINGS = (
    "please / pls / plz / kindly / btw / by the way / use the shell to / use bash to / use the command line to / use the terminal to / using the shell / using bash / using the command line / using the terminal / in bash / in the shell / from the terminal / from the shell / from the command line / on the command line / at the command line / in the terminal / with bash / write a command that / write a command to / write me a command to / write me a command that / give me a command that / give me a command to / a command to / a command that / i need a command to / i need a command that / i want a command that / i want a command to / command to / a one-liner to / a one-liner that / one-liner to / write a one-liner to / write a one-liner that / what command can / i mean / hey / hey there / hi / hi there / hello / hello there / ok / okay / ok so / okay so / so / well / alright / all right"
    " / right then / now / now then / um / uh / er / oh / yo / morning / good morning"
    " / can you / could you / would you / will you / can u / could u / can we / could we / can i / could i / may i / might i / can you please / could you please"
    " / would you please / would you kindly / could you kindly / can you just / could you just / could you maybe / could you possibly / can you possibly"
    " / can you quickly / could you quickly / can you help me / could you help me / help me / help me to / please help me / would you be able to / are you able to"
    " / would it be possible to / is it possible to / is there a way to / is there any way to / would you be so kind as to / be so kind as to / be so good as to / do me a favor and"
    " / do me a favour and / go ahead and / go and / quickly / let's / let us / let's just / try to / try and / make sure to / be sure to"
    " / i want to / i need to / i'd like to / i would like to / i would love to / i'd love to / i'd want to / i just want to / i just need to / i only want to"
    " / i only need to / i really need to / i really want to / i want you to / i need you to / i'd like you to / i would like you to / i wish to / i have to / i've got to"
    " / i must / i am trying to / i'm trying to / i was trying to / i am going to / we want to / we need to / we'd like to / we would like to / we have to / i'd appreciate it if you could"
    " / i would appreciate it if you could / it would be great if you could / it would be nice if you could / it would be good to / it'd be great if you could / it'd be nice to / it would be nice to"
    " / if you could / if possible / if you can / if you don't mind / for me / your task is to / your job is to / the task is to / the goal is to / the job is to / for a report"
    " / i wonder / i was wondering / i am wondering / i'm wondering / wondering / i am curious / i'm curious / curious / out of curiosity / just curious / just wondering / do you know / any idea / do you happen to know"
    " / i forgot / i forget / i don't know / i do not know / not sure / i'm not sure / i am not sure / remind me / not sure if you can but / first of all / to begin with / to start with / real quick / really quick / for starters"
    " / it is time to / it's time to / time to / next up / would you mind / maybe / perhaps / basically / actually / essentially"
)
# Behind an order.
CLOSINGS = (
    "pretty please / i beg you / much appreciated / appreciated / thanks in advance / and be quick about it / be quick / if any / if there are any / if there is one / if there is any / or so / one way or another / once and for all / by the way / btw / as a quick check / as a check / before i go on / got it / nothing more / no more / nothing fancy / if you would be so kind / would you kindly / and i mean it / for a talk / for a friend / for my colleague / for my boss / for a meeting / for my notes / for the record / to start with / to begin with / at your convenience / as far as possible / wherever possible / where possible / please / pls / plz / thanks / thanks a lot / many thanks / thank you / thank you very much / thx / cheers / ta / for me / for us / for me please / if possible / if at all possible / if you can / if you could"
    " / if you don't mind / if you would / if you please / if that's ok / if that's okay / if that is possible / if it's not too much trouble / would you / will you / could you / can you / real quick / really quick / quickly / right now / right away / at once"
    " / at the moment / as of now / asap / as soon as possible / when you have a moment / when you get a chance / when you can / in one go / ok / okay / would be great / would be nice / would be good / that would be great"
    " / that's all / that is all / that's it / that is it / and that's it / and that's all / that's all i need / is what i need / is what i want / is what i'm after / is all i need / is all i want / so i can see them / so i can see it / so i can check / so i can check them / so that i can see them"
    " / so that i can see it / so that i can check / so i can look at them / so i can review them / so i can have a look / for my report / for a report / for the report / for now / for reference / for review / for inspection / to look at / to have a look / for my own use / just so i know / just to be sure"
    " / to be sure / just to check / or so i think / you know / or something / or whatever / i guess / i think / i believe / hopefully / somehow / anyway / to my terminal / as usual / without any fuss"
)
# At the end of a goal only.
ENDINGS = {
    "only the number": "as a number / as a single number / just the number / just give the number / just give me the number / just the figure / only the figure / just the count / only the count / the number only / the count only / number only / count only / just a number / just a count / only a number / nothing but the number / and nothing but the number / the bare number / just the bare number / no names",
    "one per line": "each on its own line / each on their own line / each in its own line / each on a line of its own / each on a separate line / one on each line / one to a line / one name per line / a name per line / one name a line / one a line / line by line / on separate lines / on individual lines / in one column / in a single column / single column / one below the other / one under the other / one beneath the other / one underneath the other",
    "": "as a list / as list / as a plain list / as a simple list / as a flat list / in a list / in list form / in the form of a list / as plain text / as text / in plain text",
}
# Nothing, wherever they stand.
ASIDES = (
    "i mean / and i mean / you know / by the way / btw / if you will / so to speak / as it were / as far as i know / if i may / of course / obviously / for some reason / at all / if there are any / if there is any / if any exist"
    " / for crying out loud / no more no less / no more and no less / nothing more / if need be / if necessary / if needed / where applicable / as applicable / quote unquote / literally / basically / essentially / for the sake of it / to put it simply / in other words / somehow"
)
# A verb that begins an order, and any word may follow.
VERBS = {
    "show": "i'm interested in / i am interested in / we're interested in / we are interested in / i'm only interested in / i am only interested in / it would be great to see / it would be good to see / it would be nice to see / i would be glad to see / i'd be glad to see / i'd be grateful for / i would be grateful for / i'm curious about / i am curious about / my boss wants / the boss wants / the boss asked for / my boss asked for / i was asked for / i've been asked for / they want / they asked for / what i need is / what i want is / what i'd like is / what i would like is / what i'm after is / what i am after is / what i'm looking for is / what i need to see is / what i want to see is / all i need is / all i want is / i could use / i require / we require / i just want / i just need / i only want / i only need / reveal / spit out / spit / spill / bring me / bring back / hand me / hand over / hand back / give out / give back / give us / get us / i'm after / i am after / we're after / i want to see / i need to see / i'd like to see / i would like to see / i'd love to see / i would love to see / i want to have"
    " / i need to have / i need to get / i want to get / i want to know / i need to know / i'd like to know / i would like to know / i'd love to know / i'd like to have / i would like to have / i need to look at / i want to look at / i'd like to look at / i'd like to get / i want a list of / i need a list of / i'd like a list of / i want to find out / i need to find out / i want to view / need to see / want to see / need to know / want to know / like to know / would like to see / wish to see"
    " / let me have / let me have a look at / let me look at / let me take a look at / let me know / let me view / let us see / let's see / let's have / let's have a look at / let's look at / have a look at / take a look at / have a peek at / peek at / take a peek at / glance at / cast an eye over / look over / report back / report back on / produce / emit / write out / type out / read out / read me / read me out / read off / echo out / list out / list off"
    " / reel off / rattle off / print off / print out / print me / print me out / show off / show me / show us / display me / output me / dump out / lay out / set out / serve up / serve me / dish out / dish up / churn out / cough up / call up / conjure up / pull up / bring forth / put on screen / put on the screen / yield up / provide / provide me with / provide us with / supply me with / furnish me with / supply / deliver / present me with / return to me / return me"
    " / make a list of / make me a list of / give me a list of / give me a listing of / get me a list of / get a list of / get a listing of / print a list of / show a list of / show me a list of / show a listing of / produce a list of / produce a listing of / generate a list of / compile a list of / output a list of / display a list of / put together a list of / draw up a list of / run me through / walk me through / itemise / itemize / what would be / what might be / what could be / what'd be / tell me what / see to it that i see",
    "find": "hunt for / hunt down / hunt out / track down / detect / discover / spot / unearth / uncover / dig up / dig out / dig for / scout / scout for / scout out / sniff out / ferret out / root out / seek / seek out / turn up / search out / go find / go and find / get hold of / get a hold of / lay hands on / look out for / browse for / scour for / comb for / comb through for / forage for / fish for"
    " / fish out / help me find / i need to find / i want to find / i'd like to find / i would like to find / i have to find / i'm trying to find / i am trying to find / trying to find / need to find / want to find / i'm looking for / i am looking for / i'm searching for / i am searching for / i'm hunting for / point me to / point me at / point out / lead me to / single out / sift out / pinpoint / run a search for / do a search for / make a search for / perform a search for / search me / find me / find us",
    "determine": "work out / figure out / find out / ascertain / establish / make out / reckon / reckon up / suss out",
    "delete": "get shot of / do away with / dispose of / nuke / obliterate / zap / banish / blow away / chuck out / chuck away / toss out / toss away / throw out / throw away / rid me of / make away with / rub out / jettison / ditch",
    "make a copy of": "make a duplicate of / take a copy of / create a duplicate of",
    "copy": "make copies of / create copies of / make duplicates of / duplicate the file / clone the file / replicate",
    "move": "shift / shove / relocate / push over",
    "rename": "retitle / give a new name to / change the name of",
    "create": "bring into being / produce a new / build me / craft / establish a new / put in place",
    "compress": "squash / pack up / bundle up / package up / roll up / pack together / bundle together",
    "zip": "zip up",
    "tar": "tar up",
    "unpack": "unbundle / unroll",
    "sort": "alphabetise / alphabetize / put in order / put into order / bring into order / arrange / sort out / order / rank / sequence / reorder / re-order / re-sort / resort / line up in order",
    "sum": "tot up / summate / sum up / sum together / add up / add together / total up / tally up the sum of / calculate the sum of / calculate the total of / compute the sum of / compute the total of / work out the sum of / work out the total of / figure out the sum of / figure out the total of / determine the sum of / determine the total of / find the sum of / find the total of / get the sum of / get the total of / give me the sum of / give me the total of / what is the sum of / what's the sum of / what's the total of",
    "count": "number off / count off / count out / do a count of / do a head count of / perform a count of / run a count of / take a count of / make a count of / keep count of / count up",
    "number of": "give me a count of / give me the count of / give me the number of / get a count of / get the count of / get me the count of / get me the number of / get the number of / show the count of / show a count of / show me the count of / print the count of / print a count of / print the number of / show the number of / show me the number of / tell me the number of / tell me the count of / report the number of / report the count of / calculate the number of / compute the number of"
    " / work out the number of / figure out the number of / find out the number of / determine the number of / determine the count of / ascertain the number of / establish the number of / add up the number of / find the number of / need to know the number of / display the number of / display the count of / output the number of / output the count of / return the number of / return the count of / i need the number of / i want the number of / i need a count of / i want a count of / i'd like a count of / i need the count of / the total count of / quantity of / the quantity of / what is the count of / what's the count of / what is the number of / what's the number of / what is the total number of / print the total number of / show the total number of / print the total count of / give me the total number of / get the total number of / report the total number of / tell me the total number of / calculate the total number of",
    "how many": "tell me how many / show how many / show me how many / print how many / find out how many / work out how many / figure out how many / count how many / report how many / see how many / check how many / determine how many / ascertain how many / calculate how many / say how many / give me how many / let me know how many / i want to know how many / i need to know how many / i'd like to know how many / i would like to know how many / need to know how many / want to know how many / display how many / output how many / know how many",
    "replace": "swap out / change over / trade out / sub out / switch out / overwrite every",
    "merge": "glue together / glue / stitch together / stitch / fuse / splice together / put together / combine / unite / amalgamate / stick together / tack together / string together / mash together / lump together / concat / join together / merge together / bring together",
    "compare": "contrast / hold against each other / do a diff of / do a diff between / run a diff on / run a diff between / check the differences between / show me the differences between / tell me the differences between / spot the differences between / find the differences between",
    "remove": "trim off / trim away / cut off / cut out / cut away / chop off / chop away / lop off / strip off / strip out / strip away / snip off / shave off / take out / take off / take away / cast out / weed out / prune away / leave off / lose / scrub / scrub out / peel off / kick out",
}  # fmt: skip
# Verbs that are nouns and names as well: only before a word that begins a noun phrase.
BEFORE_NOUNS = {
    "show": "inspect / browse / name / grab / snag / obtain / gather / collect / round up / pull / pull out / pull together / retrieve / surface / yield / outline / note / note down / state / detail / relate / recite / read / pick / pick out / select / sift out / present / acquire / harvest / yank / yank out / announce / point out / itemise / tell us / examine",
    "count": "tally / tally up / total up / tot up / add up",
    "delete": "trash / toss / chuck / wipe / wipe away / wipe out",
    "sort": "rearrange / file in order",
    "copy": "replicate",
    "find": "isolate",
    "sum": "total up / tally / tally up / tot up",
}  # fmt: skip
# What follows decides: lines are counted, numbers added.
_COUNTED = "lines rows records entries words characters letters bytes files folders directories subfolders subdirectories dirs links symlinks scripts images pictures documents columns fields occurrences items"  # fmt: skip
COUNTED = frozenset(_COUNTED.split())
_DETERMINERS = "the a an all every each any both only just its their my our those these this that how what which me us everything anything whatever first last top bottom largest smallest biggest newest oldest unique distinct two three four five six seven eight nine ten"  # fmt: skip
DETERMINERS = frozenset(_DETERMINERS.split())
# Anywhere, but where they are a name or a text.
WORDS = {
    "at most": "not exceeding / that do not exceed / that don't exceed / not larger than / no larger than / no bigger than / not bigger than / not heavier than / no heavier than / not greater than / no greater than / not above / not over",
    "at least": "not smaller than / no smaller than / not below / not under / no lighter than",
    "larger than": "in excess of / upwards of / north of / surpassing",
    "smaller than": "smaller in size than / taking less than / taking up less than",
    "occur": "crop up / pop up / come up / turn up",
    "occurs": "crops up / pops up / comes up / turns up",
    "in uppercase": "in all caps / all caps / in big letters / in block letters / in full caps",
    "with line numbers": "with a number in front of each line / with a line number in front of each line / with a line number before each line / with each line's number / with a number before each line",
    "in the past": "this past",
    "for more than": "in over / for over",
    "with": "with the addition of",
    "first": "very first / topmost / uppermost / initial / first ever",
    "last": "very last / bottommost / lowermost / rearmost",
    "from smallest to largest": "from least to greatest / least to greatest / going up / upwards / in rising order / in growing order / from the smallest up / from the lowest up / from the bottom up",
    "from largest to smallest": "from greatest to least / greatest to least / going down / downwards / in falling order / in sinking order / in shrinking order / from the largest down / from the highest down / from the top down",
    "every": "every single / each single / each individual / every individual / each and every / every last / each of the individual / every one of the / each one of the",
    "all": "any and all / all the various / all of the various / all the different kinds of / the entirety of / the complete set of / the full set of / the totality of",
    "files": "individual files",
    "the content of": "the complete content of / the complete contents of / the entire text of / the full text of / the whole text of / the body of / the text inside / the text in / everything inside / everything written in / what is written in / what's written in / what is inside / what's inside",
    "in reverse alphabetical order": "in inverse alphabetical order / reverse-alphabetically / in backward alphabetical order / reverse alphabetic order / z to a / from z back to a",
    "newest": "freshest / most recent",
    "oldest": "longest untouched / most outdated / least recently updated / least recently edited / least recently touched / most ancient / eldest",
    "largest": "heftiest / bulkiest / fattest / hugest / most massive / most sizeable / weightiest / meatiest / chunkiest / biggest",
    "smallest": "tiniest / littlest / lightest / teeniest / puniest / most minuscule",
    "is": "would be",
    "together with": "in conjunction with / coupled with / accompanied by / alongside with / plus also",
    "except": "apart from / aside from / with the exception of / barring / leaving aside / exclusive of / ruling out / discounting / disregarding",
    "except for": "all of them but",
    "followed by": "and after that / after which / after this / subsequently followed by",
    "then": "after which / and subsequently / subsequently / and thereafter / thereafter",
    "and": "in addition to / and additionally / and in addition / and moreover / and furthermore / plus also / and likewise",
    "recursively": "and its subfolders / and its subdirectories / and all its subfolders / and all of its subfolders / and all its subdirectories / and in its subfolders / and in all its subfolders / and in all subfolders / and in any subfolder / and all subfolders / and all subdirectories / and everything under it / and everything in it / including subfolders / including all subfolders / including the subfolders / including its subfolders / including any subfolders / including subdirectories / including all subdirectories / including its subdirectories / including nested folders / including nested directories / including everything below / with subfolders / with subdirectories / with all subfolders / with its subfolders / with all its subfolders / subfolders included / subdirectories included / subfolders too / and deeper / and everything below / going into subfolders / going into subdirectories / descending into subfolders / descending into subdirectories / recursing into subfolders / recursing into subdirectories / looking into subfolders / down into subfolders / across all subfolders / across all subdirectories / across subfolders / through all subfolders / through subfolders / down the tree / down the whole tree / throughout the tree / throughout the whole tree / throughout / across the tree / across the whole tree / in all directories below / in all folders below / in every folder below / in every subfolder / in every subdirectory / in any subfolder / in any subdirectory / in nested folders as well / in nested folders too / in deeper folders too / at every depth / top to bottom / top-down / all the way down / at every level / through all levels / on all levels / however deep / however deeply nested / no matter how deep / no matter how deeply nested / at whatever depth / at all depths / at all levels / going all the way down / deep down",
    "alphabetically": "put in alphabetical order / alphabetised / alphabetized / arranged by the alphabet / in abc order / in a-z order / by the alphabet / alphabetwise / in dictionary order / in lexical order / lexically",
    "in reverse order": "the other way round / the other way around / in the opposite order / in opposite order / in inverse order / in inverted order / in the reverse order / last to first / bottom to top / from bottom to top / from end to start / from the end to the beginning / upside down",
    "numerically": "by numeric value / by numerical value / in numeric order / in numerical order / by their numeric value / in number order",
    "ignoring case": "not case sensitive / not case-sensitive / non case sensitive / disregarding case / with case ignored / in either case / in caps or not / caps or not / upper or lower / in upper or lower / capitalised or not / capitalized or not / with any capitalization / with any capitalisation / regardless of capitals / regardless of upper and lower case / case insensitively / case-insensitively / in a case-insensitive way / in a case-insensitive manner / in a case insensitive way / without caring about case / without considering case / not caring about case / upper or lower case alike / in whichever case",
    "without duplicates": "only one of each / just one of each / so that each appears once / so each appears once / so that each appears only once / with each appearing once / with repeated lines collapsed / with duplicates collapsed / with duplicate lines collapsed / with repeated lines removed / with duplicate lines removed / no line twice / none twice / nothing twice / never twice / no doubles / each appearing once / appearing only once each / leaving out duplicates / leaving out repeats / dropping repeats / removing repeats / weeding out duplicates / skipping repeats / eliminating duplicates / ignoring duplicates / ignoring repeats / with the repeats taken out / with the duplicates taken out / with doubles removed / without any duplicates / without repetitions / without repeats / minus duplicates / with no duplicates / with no repeats / with no repetitions / with repeats removed / with duplicates removed / free of duplicates / with duplicates dropped / with duplicates left out / skipping duplicates / no duplicates / no repeats / without repeating any / without repeating anything / sans duplicates",
    "including hidden files": "including hidden ones / including the hidden ones / hidden ones included / hidden ones too / hidden included / hidden files included / hidden files too / even the hidden ones / even hidden ones / with hidden ones / with hidden files / with the hidden ones / dotfiles included / including dotfiles / and hidden ones / and the hidden ones as well",
    "in total": "altogether / taken together / taken as a whole / when added together / put together / all in all / in sum / all together / all told / in the aggregate / in aggregate / summed together",
    "most common": "commonest / most prevalent / most frequently occurring / most frequently seen / most often seen / most widespread / most repeated / most often occurring",
    "that contain": "in which there is / featuring / that feature / that features / which feature / bearing / that bear",
}  # fmt: skip
# Behind these a word is what something is called, or what is looked for.
_NAMING = "called named titled word words text string phrase pattern term keyword containing contain contains mentioning mention mentions matching match matches saying say says with for of by to is are branch user group"  # fmt: skip
NAMING = frozenset(_NAMING.split())
