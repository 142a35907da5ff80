"""Train and check the model of the lines of a page: extract/page/weights.go.

usage, in an empty directory; BENCH holds the labelled sets:
  content_train.py rows BENCH PROJECT        pages, features of their lines and weak labels
  content_train.py check BENCH               scores out of fold, by host
  content_train.py train BENCH weights.go [SET ...]     the model; sets that are named are left out
  content_train.py folds BENCH DIR           DIR/weights-0.go to -3.go, each without a quarter of the hosts, and
                                             DIR/folds.json: record_id to the fold that has not seen it (content-a)
  content_train.py pages FILE.warc.gz        pages as JSON lines, for content_by.py and BenchmarkReadPages

The sets are content-a, syn-wide-a, and, thinned to one capture of a page and 60 pages of a host, tpl-a, lang-a,
dating and elections. Labels: segments and bodies that people marked (content-a); text that several sites share, and
text that a site repeats (syn-wide-a); what stands between a page's heading and its last text of its own, and what
stands around it (tpl-a, lang-a); what both teachers keep, and what both leave out at the ends (dating, elections, the
rest of content-a). Teachers are trafilatura and Resiliparse.

Seeds and orders are fixed, one thread adds up, and the weights are rounded to thousandths, so that rows and train
write the same bytes again with the same versions: Python 3.11, catboost 1.2.8, numpy 2.4.6, fastwarc 2.0.1,
resiliparse 2.0.1, trafilatura 2.3.1, lxml 6.1.3 and lxml_html_clean. Other versions were not tried.
"""
import json,re,collections,sys,os,math,random,numpy as np
try: import catboost as cb
except ImportError: cb=None
BENCH=""
from urllib.parse import urlparse
ws=re.compile(r'\s+'); flat=lambda t: ws.sub(' ',t).strip()
W=re.compile(r'\w+')
def host(u):
    if u.startswith('hard::'): return u[6:].split('-')[0]
    h=urlparse(u).netloc.split(':')[0]; h=h[4:] if h.startswith('www.') else h
    return h
def spans(lines):
    pos=0; out=[]
    for l in lines:
        out.append((pos,pos+len(l))); pos+=len(l)+1
    return out
def content_labels(pages):
    truth={}
    for l in open(BENCH+'/content-a.truth.jsonl'):
        d=json.loads(l); truth[d['record_id']]=d
    for p in pages:
        t=truth[p['id']]; p['truth']=t; p['host']=host(t['uri'])
        n=len(p['lines']); y=np.full(n,-1.0); w=np.zeros(n)
        L=[flat(l) for l in p['lines']]; sp=spans(L); f=' '.join(L)
        if 'body' in t:
            b=flat(t['body']); bs=set()
            bw=W.findall(t['body']); g=collections.Counter(zip(bw,bw[1:],bw[2:],bw[3:]))
            cls=[]
            for l in L:
                lw=W.findall(l)
                if len(lw)>=6:
                    gs=list(zip(lw,lw[1:],lw[2:],lw[3:])); c=sum(1 for x in gs if x in g)/len(gs); cls.append(1 if c>.6 else 0 if c<.25 else -1)
                elif len(l)>=1 and l in b: cls.append(.5)
                else: cls.append(0)
            strong=[i for i,c in enumerate(cls) if c==1]
            for i,c in enumerate(cls):
                if c==.5:
                    # short line in the body text: wanted if strong lines stand around it
                    a=any(j in range(i-6,i) for j in strong); z=any(j in range(i+1,i+7) for j in strong)
                    if a and z and len(L[i])>3: c=1
                    elif strong and (i<strong[0]-6 or i>strong[-1]+6): c=0
                    else: c=-1
                y[i]=c; w[i]=1 if c>=0 else 0
        else:
            for key,v in (('without',0),('with',1)):
                for s in t[key]:
                    s=flat(s); at=[m.start() for m in re.finditer(re.escape(s),f)]
                    p.setdefault('found',[]).append((key,len(at)))
                    for a in at:
                        for i,(x,z) in enumerate(sp):
                            if x<a+len(s) and z>a and z>x:
                                y[i]=v; w[i]=3.0/len(at) if len(at)>1 else 3
                                if len(at)>1 and y[i]>=0: w[i]=3.0/len(at)
            tc=p['teach']
            if tc:
                tf=flat(tc['traf']); rf=flat(tc['resi'])
                for i,l in enumerate(L):
                    if w[i]==0:
                        a=l in tf; b=l in rf
                        if len(l)<4: continue
                        if a and b: y[i],w[i]=1,.3
                        elif not a and not b: y[i],w[i]=0,.3
        p['y']=y; p['w']=w
LI=31
def syn_labels(pages,name):
    site={}
    for l in open(BENCH+f'/{name}.pages.tsv'):
        f=l.rstrip('\n').split('\t'); site[f[0]]=f[3]
    bysite=collections.defaultdict(lambda: collections.defaultdict(set)); sites=collections.defaultdict(set)
    cnt=collections.Counter()
    for p in pages:
        p['host']=site.get(p['id'],'?'); cnt[p['host']]+=1
        for l in set(p['lines']): bysite[p['host']][l].add(p['id']); sites[l].add(p['host'])
    for p in pages:
        h=p['host']; n=len(p['lines']); y=np.full(n,-1.0); w=np.zeros(n)
        for i,l in enumerate(p['lines']):
            k=len(bysite[h][l]); 
            if k>=max(3,.5*cnt[h]): y[i],w[i]=0,1
            elif p['x'][i,LI]>=800: y[i],w[i]=0,.5
            elif len(l)>=20 and len(sites[l])>=2 and k<=2: y[i],w[i]=1,1
            elif len(l)>=40 and k==1: y[i],w[i]=1,.2
        p['y']=y;p['w']=w
def score(pages,texts):
    tp=fn=fp=0;P=[];R=[]
    sh=lambda t:(lambda w: collections.Counter(tuple(w[i:i+4]) for i in range(max(1,len(w)-3))) if w else collections.Counter())(W.findall(t))
    for p,t in zip(pages,texts):
        d=p['truth']
        if 'body' in d:
            a,b=sh(d['body']),sh(t); c=sum((a&b).values())
            P.append(c/sum(b.values()) if b else 0 if a else 1); R.append(c/sum(a.values()) if a else 1); p['bf']=(P[-1],R[-1])
        else:
            f=flat(t); e=[]
            for s in d['with']:
                ok=flat(s) in f; tp+=ok; fn+=not ok
                if not ok:e.append(('FN',s))
            for s in d['without']:
                ok=flat(s) in f; fp+=ok
                if ok:e.append(('FP',s))
            p['err']=e
    f1=lambda p,r:2*p*r/(p+r) if p+r else 0
    p,r=tp/max(1,tp+fp),tp/(tp+fn); bp,br=np.mean(P),np.mean(R)
    return f'seg p {p:.4f} r {r:.4f} f1 {f1(p,r):.4f} | body p {bp:.4f} r {br:.4f} f1 {f1(bp,br):.4f}'
def text(p,keep): return '\n'.join(l for l,k in zip(p['lines'],keep) if k)
names=json.load(open('content-a.names')) if os.path.exists('content-a.names') else []
IX={n:i for i,n in enumerate(names)}
def load2(name):
    X=np.fromfile(name+'.i32',dtype='<i4').reshape(-1,len(names)).astype(np.float32)
    pages=[json.loads(l) for l in open(name+'.jsonl')]
    teach={}
    if os.path.exists(name+'.teach.jsonl'):
        for l in open(name+'.teach.jsonl'):
            d=json.loads(l); teach[d['ID']]=d
    i=0
    for p in pages:
        p['lines']=p['lines'] or []; n=len(p['lines']); p['x']=X[i:i+n]; i+=n; p['teach']=teach.get(p['id'])
    assert i==len(X)
    return pages
def cols(p): return p['x'][:,IX['columns']]
WEAK=.1 # weight of a page without people's labels
def wt(p): return p['w']*np.minimum(1+np.log1p(cols(p))/3,3)*(1 if 'truth' in p else WEAK)
def mat(ps):
    X=np.concatenate([p['x'] for p in ps]); y=np.concatenate([p['y'] for p in ps]); w=np.concatenate([wt(p) for p in ps]); m=w>0
    return X[m],y[m],w[m]
def synscore(ps,key='s',th=.5):
    k=[0,0,0,0]
    for p in ps:
        c=cols(p)*(p['w']>=1); s=p[key]>th
        k[0]+=(c*s*(p['y']==1)).sum(); k[1]+=(c*(p['y']==1)).sum(); k[2]+=(c*s*(p['y']==0)).sum(); k[3]+=(c*(p['y']==0)).sum()
    return f'syn kept {k[0]/k[1]:.4f} frame {k[2]/k[3]:.4f}'
def data():
    pages=load2('content-a'); content_labels(pages)
    syn=load2('syn-wide-a'); syn_labels(syn,'syn-wide-a')
    hosts=sorted({p['host'] for p in pages}|{p['host'] for p in syn}); random.Random(1).shuffle(hosts); fold={h:i%4 for i,h in enumerate(hosts)}
    bysite=collections.defaultdict(list)
    for p in syn: bysite[p['host']].append(p)
    syn=[q for h in sorted(bysite) for q in bysite[h][:3]]
    for p in pages+syn: p['fold']=fold[p['host']]
    return pages,syn
def made_labels(pages,tag):
    site=collections.defaultdict(lambda: collections.defaultdict(set)); cnt=collections.Counter(); h1s=collections.defaultdict(set)
    for p in pages:
        h=p['uri'].split('/')[2]; p['host']=h; cnt[h]+=1
        for l in set(p['lines']): site[h][l].add(p['id'])
        p['head']=next((i for t in ('h1','h2') for i,u in enumerate(p['tags']) if u==t),None)
        if p['head'] is not None: h1s[h].add(p['lines'][p['head']])
    for p in pages:
        h=p['host']; n=len(p['lines']); y=np.full(n,-1.0); w=np.zeros(n)
        i1=p['head']
        uniq=[i for i,l in enumerate(p['lines']) if len(site[h][l])<=2 and l not in h1s[h] and cols(p)[i]<2000]
        if i1 is None or not uniq: p['y']=y; p['w']=w; continue
        uniq=[i for i in uniq if i>i1]
        if uniq:
            z=uniq[-1]
            for i,l in enumerate(p['lines']):
                if i1<i<=z: y[i],w[i]=1,1
                elif i==i1: pass
                else: y[i],w[i]=0,1
            # a run of pages' titles within is a menu
            for i in range(i1+1,z+1):
                if p['lines'][i] in h1s[h]: w[i]=0
        p['y']=y;p['w']=w
def teacher_labels(pages):
    for p in pages:
        p['host']=p['uri'].split('/')[2]; n=len(p['lines']); y=np.full(n,-1.0); w=np.zeros(n)
        tf=flat(p['teach']['traf']); rf=flat(p['teach']['resi'])
        if len(tf)>500 and len(rf)>500:
            for i,l in enumerate(p['lines']):
                l=flat(l)
                if len(l)<4: continue
                a=l in tf; b=l in rf
                if a and b: y[i],w[i]=1,1
                elif not a and not b: y[i],w[i]=0,1
            one=np.nonzero(y==1)[0]
            if len(one): w[(y==0)&(np.arange(n)>one[0])&(np.arange(n)<one[-1])]=0
        p['y']=y;p['w']=w
def more():
    out={}
    for s in ('tpl-a','lang-a'):
        ps=load2(s); made_labels(ps,s); out[s]=ps
    for s in ('dating','elections'):
        ps=load2(s); teacher_labels(ps); out[s]=ps
    for s,ps in out.items():
        hs=sorted({p['host'] for p in ps})
        for p in ps: p['fold']=hs.index(p['host'])%4; p['set']=s
    return out
def runall(name,groups,ths=(.4,.5,.6)):
    allp=[p for g in groups.values() for p in g]
    for k in range(4):
        X,y,w=mat([p for p in allp if p['fold']!=k]); m=model(); m.fit(X,y,sample_weight=w)
        te=[p for p in allp if p['fold']==k]
        s=m.predict_proba(np.concatenate([p['x'] for p in te]))[:,1]; i=0
        for p in te: n=len(p['lines']); p['s']=s[i:i+n]; i+=n
    for th in ths:
        pages=groups['content-a']
        print(name,th,score(pages,[text(p,p['s']>th) for p in pages]),*[f"{g} {synscore(ps,th=th)[4:]}" for g,ps in groups.items() if g!='content-a'],flush=True)
ORDER='''atDepth atLists atHeading atParagraph atDivision atButtons atQuotes atFigures atUpHalf atUpMost atBelowHalf atBelowMost atSame0 atSame1 atSame3 atFree0 atFree1 atFree2 atFree3 atLinks0 atLinks1 atLinks2 atLinks3 atLinks4 atShare1 atShare2 atShare3 atProse0 atProse1 atProse2 atColumns atLinks atStops atEnded atDigits atCapitals atWords atTitled atItem atCell atNav atAside atHeader atFooter atMain atForm atPre atLinesBefore atProseBefore atProseAfter atFromProse atToProse atFromTitle atBefore3 atBefore8 atAfter3 atAfter8 atProseAfter3 atPrevious atNext atPreviousLinks atPageLines atPageProse atPageLinks atPageDense'''.split()
def fname(i): return ORDER[i] if i<len(ORDER) else f'atNames + {i-len(ORDER)}'
def emit(model,depth,path):
    model.save_model('m.json',format='json'); m=json.load(open('m.json')); ff=m['features_info']['float_features']
    scale,bias=m['scale_and_bias']; bias=bias[0] if isinstance(bias,list) else bias
    out=[]
    for t in m['oblivious_trees']:
        asks=[]
        for s in t['splits']:
            f=ff[s['float_feature_index']]; asks.append((f.get('flat_feature_index',f['feature_index']),math.floor(s['border'])))
        leaves=[round(1000*scale*v) for v in t['leaf_values']]
        while len(asks)<depth: asks.append((0,2**31-1)); leaves+=leaves
        out.append((asks,leaves))
    o=open(path,'w')
    o.write('// Code generated by docs/peers/content_train.py. DO NOT EDIT.\n\npackage page\n\n')
    o.write(f'const (\n\ttreeDepth = {depth}\n\ttreeBias  = {round(1000*bias)}\n)\n\n')
    o.write(f'var trees = [{len(out)}]tree{{\n')
    for a,l in out:
        o.write('\t{[treeDepth]ask{'+', '.join('{%s, %d}'%(fname(f),b) for f,b in a)+'},\n\t\t[1 << treeDepth]int16{'+', '.join(map(str,l))+'}},\n')
    o.write('}\n'); o.close()

THINNED=('tpl-a','lang-a','dating','elections')
PER_HOST=60
def thin(pages):
    """one capture of a page, and at most so many pages of a host"""
    random.Random(3).shuffle(pages); seen=set(); ch=collections.Counter()
    for p in pages:
        u=p['URI'].split('?v=')[0]; h=u.split('/')[2]
        if u not in seen and ch[h]<PER_HOST: seen.add(u); ch[h]+=1; yield p
def read_pages(src):
    from fastwarc.warc import ArchiveIterator,WarcRecordType
    from resiliparse.parse.encoding import detect_encoding,bytes_to_str
    for r in ArchiveIterator(open(src,'rb'),record_types=WarcRecordType.response|WarcRecordType.resource):
        body=r.reader.read(); enc=r.http_charset if r.is_http else None
        try: h=body.decode(enc or 'utf-8')
        except Exception: h=bytes_to_str(body,detect_encoding(body))
        yield dict(ID='<'+r.record_id.strip('<>')+'>',URI=r.headers.get('WARC-Target-URI') or '',HTML=h)
def write_pages(pages,o):
    for p in pages: o.write(json.dumps(p,ensure_ascii=False)+'\n')
def teach(s):
    import trafilatura
    from resiliparse.extract.html2text import extract_plain_text
    with open(s+'.teach.jsonl','w') as o:
        for l in open(s+'.html.jsonl'):
            d=json.loads(l)
            try: t=trafilatura.extract(d['HTML'],include_comments=False,include_tables=True) or ''
            except Exception: t=''
            try: r=extract_plain_text(d['HTML'],main_content=True,alt_texts=False,links=False) or ''
            except Exception: r=''
            o.write(json.dumps(dict(ID=d['ID'],traf=t,resi=r),ensure_ascii=False)+'\n')
def rows(project):
    import subprocess
    here=os.getcwd()
    for s in ('content-a','syn-wide-a')+THINNED:
        pages=read_pages(f'{BENCH}/{s}.warc.gz')
        with open(s+'.html.jsonl','w') as o: write_pages(thin(list(pages)) if s in THINNED else pages,o)
        env=dict(os.environ,NEARDUP_PAGES=f'{here}/{s}.html.jsonl',NEARDUP_ROWS=f'{here}/{s}')
        subprocess.run(['go','test','-count=1','./extract/page','-run','TestRowsOnPages'],cwd=project,env=env,check=True)
        if s in ('content-a','dating','elections'): teach(s)
def model():
    return cb.CatBoostClassifier(iterations=40,depth=6,learning_rate=.25,l2_leaf_reg=5,verbose=0,thread_count=1,border_count=32,random_seed=1,rsm=.5,bootstrap_type='Bernoulli',subsample=.7)
def train(pages,path):
    X,y,W=mat(pages); m=model(); m.fit(X,y,sample_weight=W); emit(m,6,path)
if __name__=='__main__':
    what=sys.argv[1]
    if what=='pages': write_pages(read_pages(sys.argv[2]),sys.stdout); sys.exit()
    BENCH=sys.argv[2]
    if what=='rows': rows(sys.argv[3]); sys.exit()
    pages,syn=data(); G={'content-a':pages,'syn-wide-a':syn,**more()}
    if what=='check': runall('out of fold',G)
    elif what=='train': train([p for g,ps in G.items() if g not in sys.argv[4:] for p in ps],sys.argv[3])
    elif what=='folds':
        os.makedirs(sys.argv[3],exist_ok=True)
        for k in range(4): train([p for ps in G.values() for p in ps if p['fold']!=k],f'{sys.argv[3]}/weights-{k}.go')
        json.dump({p['id']:p['fold'] for p in pages},open(sys.argv[3]+'/folds.json','w'))
    else: sys.exit(__doc__)
